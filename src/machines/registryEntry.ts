/** What the registry says of one machine. */
import type { AnyStateMachine, EventFrom, InputFrom, StateValueFrom } from "xstate"
import type { Reach } from "./sandbox/Reach.ts"

/** The state names as stored: NEW decides a creation and never reaches a row. */
export type StoredStateOf<M extends AnyStateMachine> = Exclude<Extract<StateValueFrom<M>, string>, "NEW">

/** Where somebody or something still has to act; what is over; what was said no to. */
export interface Looks<S extends string = string> {
  readonly waiting: ReadonlyArray<S>
  readonly ended: ReadonlyArray<S>
  readonly refused: ReadonlyArray<S>
}

/** What the registry knows of a machine beside the machine itself. */
export interface MachineEntry<M extends AnyStateMachine = AnyStateMachine> {
  readonly machine: M
  /** Events covering both sides of every guard. */
  readonly samples: ReadonlyArray<EventFrom<M>>
  /** Starting points; more than one where the input decides a guard or an effect. */
  readonly inputs: ReadonlyArray<InputFrom<M>>
  readonly title: string
  readonly meaning: string
  readonly clause: string
  /** How pictures colour its stored states; what is in none of the lists stands and works. */
  readonly looks: Looks<StoredStateOf<M>>
  /** How a sandbox brings an object into each of its stored states. */
  readonly reached: { readonly [S in StoredStateOf<M>]: Reach }
}

/** An entry, typed by its machine. */
export const entry = <M extends AnyStateMachine>(definition: MachineEntry<M>): MachineEntry<M> => definition
