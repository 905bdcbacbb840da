/** The description of one machine in the registry. */
import type { AnyStateMachine, EventFrom, InputFrom, StateValueFrom } from "xstate"

/** The way in which a sandbox brings an object into a state. */
export interface Reach {
  /** The partner by requests, the operator by a command, or neither, because no single request or command does it. */
  readonly by: "partner" | "operator" | "nobody"
  /** The requests or commands in words, commands in backticks. */
  readonly how: string
}

export const partner = (how: string): Reach => ({ by: "partner", how })
export const operator = (how: string): Reach => ({ by: "operator", how })
export const nobody = (how: string): Reach => ({ by: "nobody", how })

/** The state names as stored: NEW decides a creation and never reaches a row. */
export type StoredStateOf<M extends AnyStateMachine> = Exclude<Extract<StateValueFrom<M>, string>, "NEW">

/** Colour groups of states: a person or a system still has to act; the object has ended; the object was refused. */
export interface Looks<S extends string = string> {
  readonly waiting: ReadonlyArray<S>
  readonly ended: ReadonlyArray<S>
  readonly refused: ReadonlyArray<S>
}

/** The registry's data on a machine besides the machine itself. */
export interface MachineEntry<M extends AnyStateMachine = AnyStateMachine> {
  readonly machine: M
  /** Events covering both sides of every guard. */
  readonly samples: ReadonlyArray<EventFrom<M>>
  /** Starting points; more than one where the input decides a guard or an effect. */
  readonly inputs: ReadonlyArray<InputFrom<M>>
  readonly title: string
  readonly meaning: string
  readonly clause: string
  /** The colour groups of the machine's stored states; a state in no list is active. */
  readonly looks: Looks<StoredStateOf<M>>
  /** How a sandbox brings an object into each of its stored states. */
  readonly reached: { readonly [S in StoredStateOf<M>]: Reach }
}

/** An entry, typed by its machine. */
export const entry = <M extends AnyStateMachine>(definition: MachineEntry<M>): MachineEntry<M> => definition
