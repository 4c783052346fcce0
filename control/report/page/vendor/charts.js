// What the page uses of Apache ECharts; the rest is left out of the bundle.
import { init, use } from "echarts/core";
import { GraphChart, HeatmapChart, LineChart } from "echarts/charts";
import {
    AriaComponent,
    AxisPointerComponent,
    DataZoomComponent,
    GridComponent,
    LegendPlainComponent,
    MarkAreaComponent,
    TitleComponent,
    TooltipComponent,
    VisualMapContinuousComponent,
} from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

use([
    GraphChart,
    HeatmapChart,
    LineChart,
    AriaComponent,
    AxisPointerComponent,
    DataZoomComponent,
    GridComponent,
    LegendPlainComponent,
    MarkAreaComponent,
    TitleComponent,
    TooltipComponent,
    VisualMapContinuousComponent,
    SVGRenderer,
]);
window.charts = { init };
