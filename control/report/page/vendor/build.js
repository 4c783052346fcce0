// Writes charts.min.js: charts.js with what it uses, and the licenses of all that is in it before that. SHA256SUMS has what it was
// made of, so that a test finds a change without a build where there is no node.
import { buildSync } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const bundle = buildSync({
    entryPoints: ["charts.js"],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2020",
    charset: "ascii",
    legalComments: "none",
    write: false,
});
const licenses = ["echarts/LICENSE", "echarts/NOTICE", "echarts/licenses/LICENSE-d3", "zrender/LICENSE", "tslib/LICENSE.txt"];
const texts = licenses.map((name) => {
    const text = readFileSync(`node_modules/${name}`, "utf8").replaceAll("\r", "").replaceAll("*/", "* /").trim();
    return `${name}\n\n${text}\n`;
});
writeFileSync("charts.min.js", `/*!\n${texts.join("\n\n")}*/\n${bundle.outputFiles[0].text}`);

const files = ["build.js", "charts.js", "charts.min.js", "package-lock.json", "package.json"];
const sum = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");
writeFileSync("SHA256SUMS", files.map((file) => `${sum(file)}  ${file}\n`).join(""));
