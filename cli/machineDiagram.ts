/**
 * One machine for a reader: aligned text, Mermaid, SVG or JSON, always from the machine the service runs (operator
 * surface, `machine show`). The SVG is drawn offline and is the same byte for byte on every run.
 */
import { drawMachine } from "../src/machines/picture/drawMachine.ts"
import { initialOf, statesOf, tableOf, toMermaid } from "../src/machines/describe.ts"
import { type Kind, machines } from "../src/machines/registry.ts"
import { layOut } from "./layOut.ts"

export const machineFormats = ["text", "mermaid", "svg", "json"] as const
export type MachineFormat = (typeof machineFormats)[number]

/** Everything `machine show NAME --format json` prints of a machine. */
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

/** Columns padded to their widest cell, two spaces between, no trailing space. */
const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

const asText = (kind: Kind): string => {
  const { title, meaning, clause, version, states, transitions } = machineDocument(kind)
  const table = transitions.map(({ from, event, guard, to, effects }) => [from, event, guard, to, effects.join(", ")])
  return [
    `${title} (${kind}, version ${version})`,
    meaning,
    clause,
    "",
    aligned([["STATE", "MEANING"], ...states.map(({ name, description }) => [name, description])]),
    "",
    aligned([["FROM", "EVENT", "GUARD", "TO", "EFFECTS"], ...table]),
    ""
  ].join("\n")
}

/** The machine in the wanted format, ending with a line break. */
export const machineDiagram = async (kind: Kind, format: MachineFormat): Promise<string> => {
  switch (format) {
    case "text":
      return asText(kind)
    case "mermaid":
      return toMermaid(machines[kind].machine)
    case "svg":
      return drawMachine(machines[kind], await layOut(machines[kind].machine))
    case "json":
      return `${JSON.stringify(machineDocument(kind), null, 2)}\n`
  }
}
