/**
 * Brings stored rows of older machine versions to the current version as they are read, by the upcasts that their tables name. A
 * row that a newer program wrote is refused.
 */
import { Result, Schema } from "effect"
import type { TableSpec, Upcaster } from "../../tables/Table.ts"
import { versionOf } from "./step.ts"

/** A stored row with the machine version under which it was written. */
export interface Versioned {
  readonly version: string
  readonly state: string
  readonly context: unknown
}

/** A row that a newer program wrote, or one without a version: refused, never guessed. */
export class MachineVersionUnknown extends Schema.TaggedError<MachineVersionUnknown>()("MachineVersionUnknown", {
  kind: Schema.String,
  stored: Schema.String,
  known: Schema.String
}) {
  override get message(): string {
    return `The stored ${this.kind} has machine version ${this.stored}, this program knows ${this.known}.`
  }
}

/** Converts a row to version `known`, one version at a time: `steps[N - 1]` converts version N to N + 1. Pure. */
export const upcastWith = (
  kind: string,
  known: string,
  steps: ReadonlyArray<Upcaster>,
  row: Versioned
): Result.Result<Versioned, MachineVersionUnknown> => {
  if (row.version === known) return Result.succeed(row)
  const from = Number(row.version)
  const to = Number(known)
  if (!Number.isInteger(from) || from < 1 || from > to) {
    return Result.fail(new MachineVersionUnknown({ kind, stored: row.version, known }))
  }
  let current: ReturnType<Upcaster> = row
  for (let version = from; version < to; version++) {
    const up = steps[version - 1]
    if (up === undefined) throw new Error(`${kind} has no upcaster from version ${version}`)
    current = up(current)
  }
  return Result.succeed({ version: known, state: current.state, context: current.context })
}

/** A row as read from its table, with its machine's state and context in the current version. Throws if the row is newer. */
export const presentRow = (
  { machine, upcasters }: Pick<TableSpec, "machine" | "upcasters">,
  row: Record<string, unknown>
): Record<string, unknown> => {
  if (machine === null) return row
  const known = versionOf(machine)
  const { version, state, context } = row
  if (version === known) return row
  const stored = { version: String(version), state: String(state), context }
  return Object.assign(row, Result.getOrThrow(upcastWith(machine, known, upcasters, stored)))
}
