/**
 * Renders one machine of the service: aligned text, Mermaid, SVG or JSON. The SVG is drawn offline and is identical on every
 * run (operator surface, `machine show`).
 */
import { drawMachine } from "../src/machines/picture/drawMachine.ts"
import { initialOf, statesOf, tableOf, toMermaid } from "../src/machines/describe.ts"
import { type Kind, machines } from "../src/machines/registry.ts"
import { layOut } from "./layOut.ts"
import { plainScreen } from "./views/cellText.ts"
import { withoutPart } from "./views/clause.ts"
import { render } from "./views/render.ts"
import { stack, table, text, type View } from "./views/View.ts"

export const machineFormats = ["text", "mermaid", "svg", "json"] as const
export type MachineFormat = (typeof machineFormats)[number]

/** The document of `machine show NAME --format json`. */
export const machineDocument = (kind: Kind) => {
  const entry = machines[kind]
  return {
    name: kind,
    title: entry.title,
    meaning: entry.meaning,
    clause: entry.clause,
    version: entry.machine.version ?? "1",
    initial: initialOf(entry.machine),
    states: statesOf(entry.machine),
    transitions: tableOf(entry)
  }
}

/** The machine as text: description, states and transitions. */
export const machineView = (machine: ReturnType<typeof machineDocument>): View =>
  stack(
    text(`${machine.title} (${machine.name}, version ${machine.version})`),
    text(machine.meaning),
    text(withoutPart(machine.clause)),
    text(""),
    table(
      machine.states,
      { state: (row) => row.name, meaning: { cell: (row) => row.description, rank: -1 } },
      "no states"
    ),
    text(""),
    table(
      machine.transitions,
      {
        from: { cell: (row) => row.from, rank: -9 },
        event: { cell: (row) => row.event, rank: -8 },
        guard: { cell: (row) => row.guard, rank: 1 },
        to: { cell: (row) => row.to, rank: -7 },
        effects: { cell: (row) => row.effects.join(", "), rank: 2 }
      },
      "no transitions"
    )
  )

/** The machine in the given format, ending with a line break. */
export const machineDiagram = async (kind: Kind, format: MachineFormat): Promise<string> => {
  switch (format) {
    case "text":
      return `${render(machineView(machineDocument(kind)), plainScreen)}\n`
    case "mermaid":
      return toMermaid(machines[kind].machine)
    case "svg":
      return drawMachine(machines[kind], await layOut(machines[kind].machine))
    case "json":
      return `${JSON.stringify(machineDocument(kind), null, 2)}\n`
  }
}
