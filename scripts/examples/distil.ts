/**
 * Reduces the recordings of a scenario run to the examples of the reference: one of each kind, without data specific to the
 * run.
 */
import { partnerPrefix } from "../../src/http/api/PartnerApi.ts"
import type { Recorded, RecordedOperation } from "../../src/http/examples/recorded.ts"
import { partnerRoutes } from "../../src/http/features.ts"
import { testVector } from "../../src/http/guides/guides.ts"
import type { Observed } from "../../simulator/scenarios/runner/World.ts"

type Mutable = { -readonly [K in keyof RecordedOperation]: RecordedOperation[K] } & {
  answers: Record<string, Array<unknown>>
}
type Members = Readonly<Record<string, unknown>>

/** Replaces the scenario's firm, receiver and secret by neutral ones. */
const impersonal = (text: string): string => {
  const tags = new Set([...text.matchAll(/"partnerClientRef":"(s[0-9a-z]{6})-/g)].map(([, tag = ""]) => tag))
  let clean = text
  for (const tag of tags) {
    const upper = tag.toUpperCase()
    clean = clean.replaceAll(`Scenario ${upper}X`, "Acme").replaceAll(`${upper}X`, "ACME").replaceAll(upper, "ACME")
    clean = clean.replaceAll(tag, "acme")
  }
  return clean
    .replaceAll(/https:\/\/127\.0\.0\.1:[0-9]+[^"]*/g, "https://hooks.example.com/brokerage")
    .replaceAll(/whs_[\w-]+/g, testVector.secret)
}

/** Limit on the recorded answers of one status; a reader needs no more. */
const mostAnswers = 3
const mostRefusals = 6

/** The names of an answer's members. */
const membersOf = (answer: unknown): string => {
  if (typeof answer !== "object" || answer === null) return typeof answer
  const { data, ...rest } = answer as Members
  const inner = typeof data === "object" && data !== null && !Array.isArray(data) ? Object.keys(data) : []
  return [...Object.keys(rest), ...inner].join()
}

/** Distinguishes answers of one status: refusals by code and reason, others by their members. */
const kindOf = (status: number, answer: unknown): string => {
  if (status < 400) return membersOf(answer)
  const { code, data } = answer as { readonly code?: number; readonly data?: { readonly reason?: string } }
  return `${code} ${data?.reason}`
}

/** The first of each kind, in the order of the run. */
export const distil = (lines: string): Recorded => {
  const operations: Record<string, Mutable> = {}
  const events: Record<string, unknown> = {}
  for (const line of impersonal(lines).trim().split("\n")) {
    const observed = JSON.parse(line) as Observed
    if (observed.kind === "event") events[observed.event] ??= observed.body
    else {
      const { method, path, request, status, answer } = observed
      const [bare = ""] = path.split("?")
      const route = partnerRoutes.match(method, `${partnerPrefix}${bare}`)?.route
      if (route === undefined) continue
      const operation = (operations[route.operation] ??= { answers: {} })
      const isRefusal = status >= 400
      if (request !== null && !isRefusal) operation.request ??= request
      const known = (operation.answers[status] ??= [])
      const isNew = !known.some((one) => kindOf(status, one) === kindOf(status, answer))
      if (isNew && known.length < (isRefusal ? mostRefusals : mostAnswers)) known.push(answer)
    }
  }
  return { operations: sorted(operations), events: sorted(events) }
}

const sorted = <A>(record: Readonly<Record<string, A>>): Record<string, A> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/**
 * The path at which two recordings differ in shape; null: they differ at most in figures, names and times. A null on one side,
 * or an empty list, matches any shape.
 */
export const differentShape = (a: unknown, b: unknown, at = ""): string | null => {
  if (a === null || b === null) return null
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === 0 || b.length === 0 ? null : differentShape(a[0], b[0], `${at}/0`)
  }
  if (typeof a !== typeof b || Array.isArray(a) !== Array.isArray(b)) return at
  if (typeof a !== "object") return null
  const left = a as Members
  const right = b as Members
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!Object.hasOwn(left, name) || !Object.hasOwn(right, name)) return `${at}/${name}`
    const found = differentShape(left[name], right[name], `${at}/${name}`)
    if (found !== null) return found
  }
  return null
}
