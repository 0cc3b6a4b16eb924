// The drawing of graphs, loaded when a graph is first looked at.
export { default as cytoscape } from "cytoscape";
export { default as dagre } from "@dagrejs/dagre";
