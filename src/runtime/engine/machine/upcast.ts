/**
 * Stored rows of older machine versions are brought to the present one as they are read, by the steps their tables name;
 * a row that a newer program wrote is refused.
 */
import { Result, Schema } from "effect"
import type { TableSpec, Upcaster } from "../../tables/Table.ts"
import { versionOf } from "./step.ts"

/** A row as loaded: the machine version it was written under beside it. */
export interface Versioned {
  readonly version: string
  readonly state: string
  readonly context: unknown
}

/** A row written by a newer program, or under no version at all: refused, never guessed at. */
export class MachineVersionUnknown extends Schema.TaggedError<MachineVersionUnknown>()("MachineVersionUnknown", {
  kind: Schema.String,
  stored: Schema.String,
  known: Schema.String
}) {
  override get message(): string {
    return `The stored ${this.kind} has machine version ${this.stored}, this program knows ${this.known}.`
  }
}

/** The row brought to version `known` by the steps vN to vN+1, `steps[N - 1]` leaving version N. Pure. */
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

/** A row as read from its table, with its machine's state and context in the present version. Throws when it is newer. */
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
