/**
 * Lays out a machine's picture with the Eclipse Layout Kernel: states in layers, arrows at right angles, labels at free
 * places. A machine has the same layout on every run.
 */
import Elk, { type ElkNode, type ElkExtendedEdge, type LayoutOptions } from "elkjs/lib/elk.bundled.js"
import type { AnyStateMachine } from "xstate"
import { arrowsOf, initialOf, statesOf } from "../src/machines/describe.ts"
import {
  type Box,
  labelSize,
  type MachineLayout,
  type PlacedArrow,
  stateSize
} from "../src/machines/picture/MachineLayout.ts"

const start = "[*]"

const optionsOf = (direction: "DOWN" | "RIGHT"): LayoutOptions => ({
  "elk.algorithm": "layered",
  "elk.direction": direction,
  "elk.randomSeed": "1",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF",
  "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED",
  "elk.layered.edgeLabels.sideSelection": "SMART_DOWN",
  "elk.spacing.nodeNode": "36",
  "elk.spacing.edgeNode": "18",
  "elk.spacing.edgeEdge": "12",
  "elk.spacing.edgeLabel": "3",
  "elk.layered.spacing.nodeNodeBetweenLayers": "36",
  "elk.layered.spacing.edgeNodeBetweenLayers": "18",
  "elk.layered.spacing.edgeEdgeBetweenLayers": "12",
  "elk.padding": "[top=14,left=14,bottom=14,right=14]"
})

const graphOf = (machine: AnyStateMachine, direction: "DOWN" | "RIGHT"): ElkNode => ({
  id: "root",
  layoutOptions: optionsOf(direction),
  children: [
    { id: start, width: 12, height: 12 },
    ...statesOf(machine).map(({ name }) => ({ id: name, ...stateSize(machine, name) }))
  ],
  edges: [
    { id: start, sources: [start], targets: [initialOf(machine)] },
    ...arrowsOf(machine)
      .filter(({ from, to }) => from !== to)
      .map((arrow) => ({
        id: `${arrow.from} ${arrow.to}`,
        sources: [arrow.from],
        targets: [arrow.to],
        labels: [{ text: arrow.from, ...labelSize(arrow) }]
      }))
  ]
})

const tenth = (value: number | undefined): number => Math.round((value ?? 0) * 10) / 10

const boxOf = (placed: {
  readonly x?: number
  readonly y?: number
  readonly width?: number
  readonly height?: number
}): Box => ({
  x: tenth(placed.x),
  y: tenth(placed.y),
  width: tenth(placed.width),
  height: tenth(placed.height)
})

const pointsOf = (edge: ElkExtendedEdge | undefined): PlacedArrow["points"] => {
  const [section] = edge?.sections ?? []
  if (section === undefined) throw new Error("an arrow was not routed")
  return [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map(
    ({ x, y }) => [tenth(x), tenth(y)] as const
  )
}

const placedOf = (machine: AnyStateMachine, graph: ElkNode): MachineLayout => {
  const nodes = new Map((graph.children ?? []).map((node) => [node.id, node]))
  const edges = new Map((graph.edges ?? []).map((edge) => [edge.id, edge]))
  return {
    width: Math.ceil(graph.width ?? 0),
    height: Math.ceil(graph.height ?? 0),
    states: Object.fromEntries(statesOf(machine).map(({ name }) => [name, boxOf(nodes.get(name) ?? {})])),
    arrows: arrowsOf(machine)
      .filter(({ from, to }) => from !== to)
      .map(({ from, to }) => {
        const edge = edges.get(`${from} ${to}`)
        return { from, to, points: pointsOf(edge), label: boxOf(edge?.labels?.[0] ?? {}) }
      }),
    start: pointsOf(edges.get(start))
  }
}

/** A penalty for pictures that fit a screen badly: large, tall, or very flat. */
const badness = ({ width, height }: MachineLayout): number => {
  const ratio = width / height
  return width * height * Math.max(1, ratio / 2.2, 1.1 / ratio)
}

/** Lays a machine out downwards and to the right, and returns the layout that fits a screen better. */
export const layOut = async (machine: AnyStateMachine): Promise<MachineLayout> => {
  // The CommonJS module has the class as a member of its default export, and its types declare that too.
  const elk = new Elk.default()
  const down = placedOf(machine, await elk.layout(graphOf(machine, "DOWN")))
  const right = placedOf(machine, await elk.layout(graphOf(machine, "RIGHT")))
  return badness(right) < badness(down) ? right : down
}
