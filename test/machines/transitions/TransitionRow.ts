/**
 * The form of the published transition tables. The rows of a machine are `<kind>Rows` in `<machine>Rows.ts` beside this file.
 * `test/machines/transitions.test.ts` plays them all and names a machine that has none; the machine docs cite their titles.
 */

/** `input` creates the object, and the events of `given` bring it to `from`. Then `event` must lead to `to` with these effects. */
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
