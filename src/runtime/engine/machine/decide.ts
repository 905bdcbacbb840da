/**
 * Runs the state machines without running actors: stored row and event in, next row and effects out, nothing else
 * touched (architecture, Machines). XState defines the machines; flatMachine.ts runs them, several times faster than
 * XState's transition(), which stays the yardstick: test/machines/all.test.ts holds `step` and `stepSlow` equal over
 * every reachable state.
 */
import { Result, Schema } from "effect"
import { initialTransition, transition } from "xstate"
import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  ContextFrom,
  EventFrom,
  ExecutableActionObject,
  InputFrom,
  SnapshotFrom
} from "xstate"
import type { MachineEffect } from "../../../machines/Effects.ts"
import { type Kind, machines } from "../../../machines/registry.ts"
import { compileFlat, type FlatMachine } from "./flatMachine.ts"

/** What a row keeps of a machine. The state is a single name: our machines are flat. */
export interface Stored<M extends AnyStateMachine = AnyStateMachine> {
  readonly state: string
  readonly context: ContextFrom<M>
}

export interface Decision<M extends AnyStateMachine = AnyStateMachine> extends Stored<M> {
  /** In the order the machine emitted them. */
  readonly effects: ReadonlyArray<MachineEffect>
  /** False when the state does not accept the event: nothing may be written, a caller gets 409 code 4092. */
  readonly changed: boolean
}

const compiled = new WeakMap<AnyStateMachine, FlatMachine>()

const flat = (machine: AnyStateMachine): FlatMachine => {
  let found = compiled.get(machine)
  if (found === undefined) compiled.set(machine, (found = compileFlat(machine)))
  return found
}

/** The first row of a machine with the effects of its entry. Throws when the context factory fails. */
export const begin = <M extends AnyStateMachine>(machine: M, input: InputFrom<M>): Decision<M> => {
  const { state, context, effects } = flat(machine).begin(input)
  return { state, context: context as ContextFrom<M>, effects, changed: true }
}

/** One event on a stored row. An unhandled event, or a guard that says no, leaves `changed` false and no effects. */
export const step = <M extends AnyStateMachine>(
  machine: M,
  stored: Stored<NoInfer<M>>,
  event: EventFrom<NoInfer<M>>
): Decision<M> => {
  const moved = flat(machine).step(stored.state, stored.context as object, event)
  return moved === null
    ? { state: stored.state, context: stored.context, effects: [], changed: false }
    : { state: moved.state, context: moved.context as ContextFrom<M>, effects: moved.effects, changed: true }
}

/** `begin` and then the creation event, for machines whose first state NEW is never stored. */
export const create = <M extends AnyStateMachine>(
  machine: M,
  input: InputFrom<M>,
  event: EventFrom<NoInfer<M>>
): Decision<M> => step(machine, begin(machine, input), event)

const stateOf = (snapshot: AnyMachineSnapshot): string => {
  if (snapshot.status === "error") throw snapshot.error
  if (typeof snapshot.value !== "string") throw new Error("a machine must be flat: its state is one name")
  return snapshot.value
}

/** Only emits may leave a machine: anything else is a programming error. */
const emitted = (action: ExecutableActionObject): MachineEffect => {
  if (action.type !== "xstate.emit") throw new Error(`a machine must only emit, found action ${action.type}`)
  return (action.params as { readonly event: MachineEffect }).event
}

/** `begin` in XState's documented form: the yardstick for tests, not for the service. */
export const beginSlow = <M extends AnyStateMachine>(machine: M, input: InputFrom<M>): Decision<M> => {
  const [snapshot, actions] = initialTransition(machine, input as never)
  return {
    state: stateOf(snapshot as AnyMachineSnapshot),
    context: (snapshot as AnyMachineSnapshot).context as ContextFrom<M>,
    effects: actions.map(emitted),
    changed: true
  }
}

/** `step` in XState's documented form: the yardstick for tests, not for the service. */
export const stepSlow = <M extends AnyStateMachine>(
  machine: M,
  stored: Stored<NoInfer<M>>,
  event: EventFrom<NoInfer<M>>
): Decision<M> => {
  const before = machine.resolveState({ value: stored.state, context: stored.context }) as SnapshotFrom<M>
  const [next, actions] = transition(machine, before, event as never)
  const after = next as AnyMachineSnapshot
  return {
    state: stateOf(after),
    context: after.context as ContextFrom<M>,
    effects: actions.map(emitted),
    // A handled event that only emits may return the very snapshot it came from (xstate/State microstep).
    changed: after !== (before as AnyMachineSnapshot) || actions.length > 0
  }
}

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

export type Upcaster = (row: { readonly state: string; readonly context: unknown }) => {
  readonly state: string
  readonly context: unknown
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

/** The upcasters of each kind, in order from version 1. A version bump adds one. */
export const upcasters: Readonly<Record<Kind, ReadonlyArray<Upcaster>>> = {
  // Version 2 adds the change of the custody model, which no state depends on.
  partner: [(row) => row],
  reliance: [],
  apiKey: [],
  client: [],
  // Version 2 is refused and reopened together with the person; its rows are those of version 1.
  kycPackage: [(row) => row],
  verificationBlock: [],
  // Version 2 tells when the test can be taken again; its rows are those of version 1.
  assessment: [(row) => row],
  case: [],
  approval: [],
  watchImport: [],
  depositNotice: [],
  // Version 2 keeps the balances after the booking, which replays answer; those of version 1 are recomputed.
  collateralReport: [
    ({ state, context }) => ({
      state,
      context: {
        cashAfter: null,
        reservedAfter: null,
        freeAfter: null,
        freeMarginAfter: null,
        ...(context as object)
      }
    })
  ],
  settlementItem: [],
  // Version 2 keeps a fingerprint of the destination, which version 1 did not.
  withdrawalRequest: [
    ({ state, context }) => ({ state, context: { destinationFingerprint: null, ...(context as object) } })
  ],
  reconBreak: [],
  webhookEndpoint: [],
  // Version 2 ends with its partner; its rows are those of version 1.
  webhookDelivery: [(row) => row]
}

/** The machine version a kind's rows are written under. */
export const versionOf = (kind: Kind): string => machines[kind].machine.version ?? "1"

/** The stored row in the present version of its machine, or a typed refusal when it is newer. */
export const upcast = (kind: Kind, row: Versioned): Result.Result<Versioned, MachineVersionUnknown> =>
  upcastWith(kind, versionOf(kind), upcasters[kind], row)
