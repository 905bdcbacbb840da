/**
 * Steps state machines without running actors: from a stored row and an event to the next row and its effects, as pure functions
 * (architecture, Machines). XState defines the machines; flatMachine.ts runs them several times faster than XState's
 * transition(), which stays the reference: test/machines/all.test.ts holds `step` and `stepSlow` equal over every reachable
 * state.
 */
import { channel } from "node:diagnostics_channel"
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type ContextFrom,
  type EventFrom,
  type EventObject,
  type ExecutableActionObject,
  initialTransition,
  type InputFrom,
  type SnapshotFrom,
  transition
} from "xstate"
import type { MachineEffect } from "../../../machines/Effects.ts"
import { type Kind, machines } from "../../../machines/registry.ts"
import { compileFlat, type FlatMachine } from "./flatMachine.ts"

/** The stored part of a machine. The state is a single name, because the machines are flat. */
export interface Stored<M extends AnyStateMachine = AnyStateMachine> {
  readonly state: string
  readonly context: ContextFrom<M>
}

export interface Step<M extends AnyStateMachine = AnyStateMachine> extends Stored<M> {
  /** In the order the machine emitted them. */
  readonly effects: ReadonlyArray<MachineEffect>
  /** False if the state does not accept the event: no row may be written, and a caller gets 409 code 4092. */
  readonly changed: boolean
}

/** A step as it is published; the state before is null for a new object. */
export interface StepReport {
  readonly machine: AnyStateMachine
  readonly before: Stored | null
  readonly event: EventObject | null
  readonly after: string
}

/**
 * Publishes each step to subscribers. Only the coverage record of scenarios subscribes (scripts/machineCoverage.ts), no service.
 */
const steps = channel("brokerage.machine.step")

const compiled = new WeakMap<AnyStateMachine, FlatMachine>()

const flat = (machine: AnyStateMachine): FlatMachine => {
  let found = compiled.get(machine)
  if (found === undefined) compiled.set(machine, (found = compileFlat(machine)))
  return found
}

/** The first row of a machine with the effects of its entry. Throws if the context factory fails. */
export const begin = <M extends AnyStateMachine>(machine: M, input: InputFrom<M>): Step<M> => {
  const { state, context, effects } = flat(machine).begin(input)
  if (steps.hasSubscribers) steps.publish({ machine, before: null, event: null, after: state } satisfies StepReport)
  return { state, context: context as ContextFrom<M>, effects, changed: true }
}

/** One event on a stored row. An unhandled event, or a guard that refuses it, leaves `changed` false and no effects. */
export const step = <M extends AnyStateMachine>(
  machine: M,
  stored: Stored<NoInfer<M>>,
  event: EventFrom<NoInfer<M>>
): Step<M> => {
  const moved = flat(machine).step(stored.state, stored.context as object, event)
  if (moved !== null && steps.hasSubscribers)
    steps.publish({ machine, before: stored, event, after: moved.state } satisfies StepReport)
  return moved === null
    ? { state: stored.state, context: stored.context, effects: [], changed: false }
    : { state: moved.state, context: moved.context as ContextFrom<M>, effects: moved.effects, changed: true }
}

/** Runs `begin` and then the creation event, for machines whose first state NEW is never stored. Returns the effects of both. */
export const create = <M extends AnyStateMachine>(
  machine: M,
  input: InputFrom<M>,
  event: EventFrom<NoInfer<M>>
): Step<M> => {
  const first = begin(machine, input)
  const next = step(machine, first, event)
  return first.effects.length === 0 ? next : { ...next, effects: [...first.effects, ...next.effects] }
}

const stateOf = (snapshot: AnyMachineSnapshot): string => {
  if (snapshot.status === "error") throw snapshot.error
  if (typeof snapshot.value !== "string") throw new Error("a machine must be flat: its state is one name")
  return snapshot.value
}

/** Machines may only emit: any other action is a programming error. */
const emitted = (action: ExecutableActionObject): MachineEffect => {
  if (action.type !== "xstate.emit") throw new Error(`a machine must only emit, found action ${action.type}`)
  return (action.params as { readonly event: MachineEffect }).event
}

/** `begin` in XState's documented form: the reference for tests, not for the service. */
export const beginSlow = <M extends AnyStateMachine>(machine: M, input: InputFrom<M>): Step<M> => {
  const [snapshot, actions] = initialTransition(machine, input as never)
  return {
    state: stateOf(snapshot as AnyMachineSnapshot),
    context: (snapshot as AnyMachineSnapshot).context as ContextFrom<M>,
    effects: actions.map(emitted),
    changed: true
  }
}

/** `step` in XState's documented form: the reference for tests, not for the service. */
export const stepSlow = <M extends AnyStateMachine>(
  machine: M,
  stored: Stored<NoInfer<M>>,
  event: EventFrom<NoInfer<M>>
): Step<M> => {
  const before = machine.resolveState({ value: stored.state, context: stored.context }) as SnapshotFrom<M>
  const [next, actions] = transition(machine, before, event as never)
  const after = next as AnyMachineSnapshot
  return {
    state: stateOf(after),
    context: after.context as ContextFrom<M>,
    effects: actions.map(emitted),
    // XState's microstep may return the same snapshot for a handled event that only emits.
    changed: after !== (before as AnyMachineSnapshot) || actions.length > 0
  }
}

/** The machine version a kind's rows are written under. */
export const versionOf = (kind: Kind): string => machines[kind].machine.version ?? "1"
