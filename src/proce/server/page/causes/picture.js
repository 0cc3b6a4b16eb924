// The graph as a picture: positions by dagre in layers, drawn by cytoscape on a canvas.

const LINE_HEIGHT = 17;
const MAX_LABEL = 40;
const MARGIN = 16;
const MIN_ZOOM = 0.85; // of letters of 13 pixels
const MAX_ZOOM = 1.15;
const FONT = "13px system-ui, sans-serif";
const FAMILY = "system-ui, sans-serif";

const shorten = (words) =>
  [...words].length > MAX_LABEL ? `${[...words].slice(0, MAX_LABEL - 1).join("")}…` : words;

let canvas;

function widthOf(line) {
  canvas ??= document.createElement("canvas").getContext("2d");
  canvas.font = FONT;
  return canvas.measureText(line).width;
}

// A node as the picture needs it; `lines` are the words inside it.
function sized(node) {
  const lines = node.lines.map(shorten);
  return {
    ...node,
    words: lines.join("\n"),
    width: Math.max(56, ...lines.map(widthOf)) + 26,
    height: lines.length * LINE_HEIGHT + 18,
  };
}

// Centres of nodes in layers, causes before effects, and the bends of arrows round what is between.
function arrange(dagre, nodes, edges, direction) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: direction, nodesep: 22, ranksep: direction === "LR" ? 60 : 44 });
  graph.setDefaultEdgeLabel(() => ({}));
  nodes.forEach(({ width, height }, position) => graph.setNode(`${position}`, { width, height }));
  for (const { source, target } of edges) graph.setEdge(source, target);
  dagre.layout(graph);
  const centres = nodes.map((_, position) => {
    const { x, y } = graph.node(`${position}`);
    return { x, y };
  });
  const bends = edges.map(({ source, target }) =>
    bendsOf(centres[source], centres[target], graph.edge(source, target).points.slice(1, -1)));
  const { width, height } = graph.graph();
  return { centres, bends, width, height };
}

// Points between two centres, as cytoscape wants them: along the line, and away from it.
function bendsOf(from, to, points) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const square = dx * dx + dy * dy || 1;
  return {
    weights: points.map(({ x, y }) => ((x - from.x) * dx + (y - from.y) * dy) / square),
    distances: points.map(({ x, y }) => ((y - from.y) * dx - (x - from.x) * dy) / Math.sqrt(square)),
  };
}

// How large an arrangement is drawn in a box: as wide as the box, but never too small to be read.
const zoomIn = ({ width }, room) => Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, (room - 2 * MARGIN) / width));

// Downwards or to the right: what fits the width, and of two that do the lower one.
function bestArrangement(dagre, nodes, edges, room) {
  const arrangements = ["TB", "LR"].map((direction) => arrange(dagre, nodes, edges, direction));
  const fitting = arrangements.filter(({ width }) => (room - 2 * MARGIN) / width >= MIN_ZOOM);
  const height = (one) => one.height * zoomIn(one, room);
  if (fitting.length) return fitting.reduce((best, one) => (height(one) < height(best) ? one : best));
  return arrangements.reduce((best, one) => (one.width < best.width ? one : best));
}

function styleOf(colour) {
  return [
    {
      selector: "node",
      style: {
        label: "data(words)",
        width: "data(width)",
        height: "data(height)",
        shape: "round-rectangle",
        "background-color": colour.paper,
        "border-width": 1,
        "border-color": colour.edge,
        color: colour.ink,
        "font-family": FAMILY,
        "font-size": 13,
        "line-height": 1.3,
        "text-wrap": "wrap",
        "text-max-width": 1000,
        "text-valign": "center",
        "text-halign": "center",
      },
    },
    {
      selector: 'node[kind = "action"], node[kind = "hold"], node[kind = "wait"]',
      style: {
        shape: "rectangle",
        "background-color": colour.blue,
        "border-color": colour.blue,
        "border-width": 2,
        color: colour.onBlue,
        "font-weight": 600,
      },
    },
    {
      selector: 'node[kind = "consequence"]',
      style: {
        "background-color": colour.tint,
        "border-style": "dashed",
        "border-color": colour.blue,
        "border-width": 2,
      },
    },
    {
      selector: "edge",
      style: {
        width: 1.2,
        "curve-style": "round-segments",
        "segment-weights": "data(weights)",
        "segment-distances": "data(distances)",
        "segment-radii": 24,
        "edge-distances": "node-position",
        "line-color": colour.faint,
        "target-arrow-color": colour.faint,
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.9,
      },
    },
    {
      selector: "edge[?carries]",
      style: { width: 2.4, "line-color": colour.blue, "target-arrow-color": colour.blue },
    },
    {
      selector: "edge[?isNew]",
      style: {
        "line-style": "dashed",
        "line-color": colour.ink,
        "target-arrow-color": colour.ink,
        label: "new",
        "font-family": FAMILY,
        "font-size": 11,
        color: colour.ink,
        "text-background-color": colour.paper,
        "text-background-opacity": 1,
        "text-background-padding": 2,
      },
    },
    { selector: "node:selected, node.start", style: { "border-width": 4, "border-color": colour.ink } },
    {
      selector: "edge:selected",
      style: { width: 4, "line-color": colour.ink, "target-arrow-color": colour.ink },
    },
  ];
}

// Cytoscape writes its one rule into the page unless an element with this id is there; the rule is
// in style.css, as the page lets no style in that is not a file.
function forestallStyle() {
  const id = "__________cytoscape_stylesheet";
  if (document.getElementById(id)) return;
  const stand = document.createElement("template");
  stand.id = id;
  document.head.append(stand);
}

// Draws into an element; what is returned changes the drawing and ends it. Null where the element
// was gone before the library had come.
// `on` gets what is clicked and hovered: {feature} | {edge} | null.
export async function openPicture(element, on) {
  const { cytoscape, dagre } = await import("../vendor/graph.js");
  if (!element.isConnected) return null;
  forestallStyle();
  const cy = cytoscape({
    container: element,
    autoungrabify: true,
    boxSelectionEnabled: false,
    userZoomingEnabled: false,
    minZoom: 0.2,
    maxZoom: 2,
  });
  const subject = (target) => {
    if (target === cy) return null;
    return target.isNode() ? { feature: target.data("name") } : { edge: target.data("edge") };
  };
  cy.on("tap", (event) => on.select(subject(event.target)));
  cy.on("mouseover", "node, edge", (event) =>
    on.hover({ ...subject(event.target), at: event.renderedPosition }),
  );
  cy.on("mouseout viewport", () => on.hover(null));

  let shown = null; // the arrangement that is drawn
  const fit = () => {
    if (!shown) return;
    const level = zoomIn(shown, element.clientWidth);
    const [width, height] = [shown.width * level, shown.height * level];
    element.style.height = `${Math.round(height + 2 * MARGIN)}px`; // style.css bounds it
    cy.resize();
    const middle = (room, size) => Math.max(MARGIN, (room - size) / 2);
    cy.viewport({ zoom: level, pan: { x: middle(element.clientWidth, width), y: middle(element.clientHeight, height) } });
  };
  return {
    draw({ nodes, edges, selected, start, colour }) {
      const position = new Map(nodes.map(({ name }, index) => [name, `${index}`]));
      const boxes = nodes.map(sized);
      const arrows = edges
        .filter(({ edge }) => edge.every((name) => position.has(name)))
        .map((arrow) => ({
          ...arrow,
          source: position.get(arrow.edge[0]),
          target: position.get(arrow.edge[1]),
        }));
      shown = bestArrangement(dagre, boxes, arrows, element.clientWidth);
      const { centres, bends } = shown;
      cy.batch(() => {
        cy.elements().remove();
        cy.style(styleOf(colour));
        boxes.forEach((box, index) => {
          cy.add({ data: { ...box, id: `${index}` }, position: centres[index] });
        });
        arrows.forEach((arrow, index) => cy.add({ data: { ...arrow, ...bends[index], id: `arrow ${index}` } }));
        cy.nodes().forEach((node) => {
          if (node.data("name") === selected?.feature) node.select();
          if (node.data("name") === start) node.addClass("start");
        });
        cy.edges().forEach((arrow) => {
          const [cause, effect] = arrow.data("edge");
          if (cause === selected?.edge?.[0] && effect === selected?.edge?.[1]) arrow.select();
        });
      });
    },
    fit,
    zoom(factor) {
      const { width, height } = element.getBoundingClientRect();
      cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: width / 2, y: height / 2 } });
    },
    end: () => cy.destroy(),
  };
}
