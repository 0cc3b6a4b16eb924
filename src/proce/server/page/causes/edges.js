// Arrows as pairs [cause, effect]: lists of them are values, never changed in place.

const same = ([cause, effect], [otherCause, otherEffect]) =>
  cause === otherCause && effect === otherEffect;

export const hasEdge = (edges, edge) => edges.some((other) => same(edge, other));

export const addEdge = (edges, edge) => (hasEdge(edges, edge) ? edges : [...edges, edge]);

export const removeEdge = (edges, edge) => edges.filter((other) => !same(edge, other));

// The arrows with one of them turned round, in its place.
export const reverseEdge = (edges, edge) =>
  edges.map((other) => (same(edge, other) ? [other[1], other[0]] : other));

// Whether two lists hold the same arrows, in whatever order.
export const sameEdges = (one, other) =>
  one.length === other.length && one.every((edge) => hasEdge(other, edge));

// Arrows of the first list that the second does not hold.
export const without = (edges, others) => edges.filter((edge) => !hasEdge(others, edge));

export const causesOf = (edges, feature) =>
  edges.filter(([, effect]) => effect === feature).map(([cause]) => cause);

// The shortest way along the arrows between two features, as names; null where there is none.
export function path(edges, from, to) {
  const cameFrom = new Map([[from, null]]);
  const queue = [from];
  for (let position = 0; position < queue.length; position += 1) {
    const feature = queue[position];
    if (feature === to) return trace(cameFrom, to);
    for (const [cause, effect] of edges) {
      if (cause === feature && !cameFrom.has(effect)) {
        cameFrom.set(effect, feature);
        queue.push(effect);
      }
    }
  }
  return null;
}

function trace(cameFrom, end) {
  const names = [];
  for (let feature = end; feature !== null; feature = cameFrom.get(feature)) names.unshift(feature);
  return names;
}

// Why an arrow cannot be added, in words, or null; `label` names a feature for people.
export function obstacle(edges, [cause, effect], label) {
  if (!cause || !effect) return "Choose a cause and an effect.";
  if (cause === effect) return "A feature cannot be its own cause. Choose two different features.";
  if (hasEdge(edges, [cause, effect])) return `${label(cause)} → ${label(effect)} is there already.`;
  const back = path(edges, effect, cause);
  if (!back) return null;
  return (
    `${label(cause)} → ${label(effect)} would close a circle, because of ` +
    `${back.map(label).join(" → ")}. Reverse or remove an arrow of it first.`
  );
}

// Why an arrow cannot be turned round, in words, or null.
export const reversalObstacle = (edges, [cause, effect], label) =>
  obstacle(removeEdge(edges, [cause, effect]), [effect, cause], label);
