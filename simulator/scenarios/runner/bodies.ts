/** Bodies of requests: a sample with replaced, added and removed members. */

export interface BodyChanges {
  /** A map replaces members of the sample; any other value is the body. */
  readonly body: unknown
  /** New values of members, by dotted path. */
  readonly with: Readonly<Record<string, unknown>>
  readonly without: ReadonlyArray<string>
}

type Members = Record<string, unknown>
const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The body with its changes; undefined without a sample and a body. */
export const withMembers = (sample: unknown, changes: BodyChanges): unknown => {
  const { body } = changes
  const start = body === undefined ? sample : isMembers(sample) && isMembers(body) ? { ...sample, ...body } : body
  const copy: unknown = structuredClone(start)
  for (const [path, value] of Object.entries(changes.with)) setAt(copy, path.split("."), value)
  for (const path of changes.without) setAt(copy, path.split("."), undefined)
  return copy
}

/** Sets a member; undefined removes it. Missing objects on the path become maps. */
const setAt = (value: unknown, path: ReadonlyArray<string>, member: unknown): void => {
  const [name, ...rest] = path
  if (name === undefined || typeof value !== "object" || value === null) return
  const owner = value as Members
  if (rest.length > 0) {
    owner[name] ??= {}
    setAt(owner[name], rest, member)
  } else if (member === undefined) delete owner[name]
  else owner[name] = member
}
