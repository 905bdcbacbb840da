/**
 * The form of the published transition tables. A machine's rows stand beside its samples, in `<machine>Rows.ts`, and are
 * called `<kind>Rows`; `test/machines/transitions.test.ts` plays them all and misses a machine without.
 */

/** From a creation (`input`) and accepted events (`given`) to a state, one event, and what must come of it. */
export interface TransitionRow {
  readonly title: string
  readonly from: string
  readonly input: object
  readonly given: ReadonlyArray<{ readonly type: string }>
  readonly event: { readonly type: string }
  /** A state, or "refused": the very same row, no effects. */
  readonly to: string
  /** Effect names, in order. */
  readonly effects: ReadonlyArray<string>
  readonly context: object
}

/** Rows of one creation. */
export const rowsOf =
  <E extends { readonly type: string }>(input: object) =>
  (
    title: string,
    from: string,
    given: ReadonlyArray<E>,
    event: E,
    to: string,
    effects: ReadonlyArray<string> = [],
    context: object = {}
  ): TransitionRow => ({ title, from, input, given, event, to, effects, context })
