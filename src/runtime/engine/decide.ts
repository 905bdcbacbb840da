/**
 * Runs the state machines without running actors: stored row and event in, next row and effects out, nothing else
 * touched (architecture, Machines). XState's documented transition() builds a throw-away actor per call; one shared inert
 * scope and one resolved snapshot per state give the same answer in 4 us instead of 16 or more (measured). That scope is
 * not public API, so it lives in this file alone, and test/machines/all.test.ts holds `step` and `stepSlow` equal over
 * every reachable state.
 */
import { Result, Schema } from "effect"
import { createActor, initialTransition, transition } from "xstate"
import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  ContextFrom,
  EventFrom,
  ExecutableActionObject,
  InputFrom,
  SnapshotFrom
} from "xstate"
import type { MachineEffect } from "../../machines/Effects.ts"
import { type Kind, machines } from "../../machines/registry.ts"

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

type Scope = Parameters<AnyStateMachine["transition"]>[2]

interface Runner {
  readonly scope: Scope
  /** One resolved snapshot per state, reused with another context: resolving costs more than the step itself. */
  readonly templates: Map<string, AnyMachineSnapshot>
  readonly actions: Array<ExecutableActionObject>
}

const runners = new WeakMap<AnyStateMachine, Runner>()

const runnerOf = (machine: AnyStateMachine): Runner => {
  const known = runners.get(machine)
  if (known !== undefined) return known
  const actions: Array<ExecutableActionObject> = []
  const actor = createActor(machine) // never started
  const scope = {
    self: actor,
    id: machine.id,
    sessionId: "inert",
    system: actor.system,
    logger: () => {},
    defer: () => {},
    emit: () => {},
    stopChild: () => {},
    actionExecutor: (action: ExecutableActionObject) => {
      actions.push(action)
    }
  } as unknown as Scope
  const runner = { scope, templates: new Map(), actions }
  runners.set(machine, runner)
  return runner
}

/** Only emits may leave a machine: anything else is a programming error and stops the turn. */
const emitted = (action: ExecutableActionObject): MachineEffect => {
  if (action.type !== "xstate.emit") throw new Error(`a machine must only emit, found action ${action.type}`)
  return (action.params as { readonly event: MachineEffect }).event
}

const stateOf = (snapshot: AnyMachineSnapshot): string => {
  if (snapshot.status === "error") throw snapshot.error
  if (typeof snapshot.value !== "string") throw new Error("a machine must be flat: its state is one name")
  return snapshot.value
}

/** The stored row as XState's snapshot. Throws on a state name the machine does not have. */
const restore = (machine: AnyStateMachine, runner: Runner, stored: Stored): AnyMachineSnapshot => {
  let template = runner.templates.get(stored.state)
  if (template === undefined) {
    template = machine.resolveState({ value: stored.state, context: {} }) as AnyMachineSnapshot
    runner.templates.set(stored.state, template)
  }
  return { ...template, context: stored.context }
}

/** The first row of a machine with the effects of its entry. Throws when the context factory fails. */
export const begin = <M extends AnyStateMachine>(machine: M, input: InputFrom<M>): Decision<M> => {
  const runner = runnerOf(machine)
  runner.actions.length = 0
  const snapshot = machine.getInitialSnapshot(runner.scope, input) as AnyMachineSnapshot
  return {
    state: stateOf(snapshot),
    context: snapshot.context as ContextFrom<M>,
    effects: runner.actions.map(emitted),
    changed: true
  }
}

/** One event on a stored row. An unhandled event, or a guard that says no, leaves `changed` false and no effects. */
export const step = <M extends AnyStateMachine>(
  machine: M,
  stored: Stored<NoInfer<M>>,
  event: EventFrom<NoInfer<M>>
): Decision<M> => {
  const runner = runnerOf(machine)
  const before = restore(machine, runner, stored)
  runner.actions.length = 0
  const after = machine.transition(before, event, runner.scope) as AnyMachineSnapshot
  return decision(before, after, runner.actions.map(emitted))
}

/**
 * A handled event that only emits may return the very snapshot it came from (xstate/State microstep), so effects count
 * as a change too.
 */
const decision = <M extends AnyStateMachine>(
  before: AnyMachineSnapshot,
  after: AnyMachineSnapshot,
  effects: ReadonlyArray<MachineEffect>
): Decision<M> => ({
  state: stateOf(after),
  context: after.context as ContextFrom<M>,
  effects,
  changed: after !== before || effects.length > 0
})

/** `begin` and then the creation event, for machines whose first state NEW is never stored. */
export const create = <M extends AnyStateMachine>(
  machine: M,
  input: InputFrom<M>,
  event: EventFrom<NoInfer<M>>
): Decision<M> => step(machine, begin(machine, input), event)

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
  const [after, actions] = transition(machine, before, event as never)
  return decision(before as AnyMachineSnapshot, after as AnyMachineSnapshot, actions.map(emitted))
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

/** The upcasters of each kind, in order from version 1. A version bump adds one; every machine is at version 1. */
export const upcasters: Readonly<Record<Kind, ReadonlyArray<Upcaster>>> = {
  partner: [],
  reliance: [],
  apiKey: [],
  client: [],
  kycPackage: [],
  verificationBlock: [],
  case: [],
  approval: [],
  collateralReport: []
}

/** The machine version a kind's rows are written under. */
export const versionOf = (kind: Kind): string => machines[kind].machine.version ?? "1"

/** The stored row in the present version of its machine, or a typed refusal when it is newer. */
export const upcast = (kind: Kind, row: Versioned): Result.Result<Versioned, MachineVersionUnknown> =>
  upcastWith(kind, versionOf(kind), upcasters[kind], row)
