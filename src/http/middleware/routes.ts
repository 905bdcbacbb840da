/**
 * The route table of a surface, built from the contract by reflection, and its matcher. Case and slashes are exact. Path
 * parameters are decoded by their schema, whatever their name. Tables are small, so the hot path needs no general router
 * (A1-01).
 */
import { Context, Option, Schema, SchemaAST } from "effect"
import { HttpApiEndpoint, type HttpApiGroup, type HttpApiSchema } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { pageBudget } from "../../machines/shared/Limits.ts"
import type { Noun } from "../../machines/shared/RefusalReason.ts"
import { fieldsOf, isPathId, namedBy, noId, scanningFilters } from "../api/Parameters.ts"
import { PublicRoute, RouteRules } from "../api/RouteRules.ts"
import type { AnswerForm } from "./answers.ts"
import { type Query, type QueryParameter, queryParametersOf, readerOf } from "./queries.ts"

export interface Route {
  /** `noun.verb`, the operation's name in the OpenAPI document. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly rules: RouteRules
  /** True for a route that answers without a credential. */
  readonly isPublic: boolean
  /** True when the path has the parameter `clientId`. */
  readonly ofClient: boolean
  readonly query: ReadonlyArray<QueryParameter>
  /**
   * Filters that make the cost of a page unknown, because a page with one of them may scan any number of rows
   * (`scanningFilters`). Null when the route lists no stored rows.
   */
  readonly scanning: ReadonlyArray<string> | null
  readonly form: AnswerForm
}

/**
 * The number of stored rows that a read counts as. Null when the answer comes from memory, from the venue, or from few rows
 * by their keys.
 */
export const rowsOf = ({ scanning, rules: { heavy } }: Route, query: Query): number | null => {
  if (heavy !== undefined && (heavy.with === undefined || query[heavy.with] !== undefined)) return heavy.rows
  if (scanning === null) return null
  return scanning.some((name) => query[name] !== undefined) ? pageBudget.share : (query["limit"] as number)
}

export interface RouteMatch {
  readonly route: Route
  /** The decoded path parameters by name. A malformed id becomes `noId`, which no object has. */
  readonly params: Readonly<Record<string, unknown>>
  /**
   * The noun of the object that an undecodable path parameter names, for the 404 answer; null when every parameter that is
   * not an id can be decoded.
   */
  readonly unknown: Noun | null
}

interface PathParameter {
  readonly name: string
  readonly isId: boolean
  readonly names: Noun
  readonly read: (text: string) => Option.Option<unknown>
}

interface Entry {
  readonly route: Route
  /** The parts of the path in order: literals and parameters. */
  readonly segments: ReadonlyArray<string | PathParameter>
}

/** Whether a request target lies under a prefix. */
export const under = (url: string, prefix: string): boolean => {
  if (!url.startsWith(prefix)) return false
  const next = url.charCodeAt(prefix.length)
  return Number.isNaN(next) || next === 47 || next === 63
}

/** A group of endpoints with its annotations, from a contract or added to one by this service. */
export type Group = HttpApiGroup.Constraint & { readonly annotations: Context.Context<never> }

export class RouteTable {
  /** All routes, in the order of the contract. */
  readonly routes: ReadonlyArray<Route>
  private readonly prefix: string
  /** Entries by method and number of segments. Literals come before parameters, so that `by-ref` is not read as a client id. */
  private readonly entries = new Map<string, Array<Entry>>()

  /** Builds the routes of the groups under `prefix`. Throws if a path parameter has no schema. */
  constructor(prefix: string, groups: ReadonlyArray<Group>) {
    this.prefix = `${prefix}/`
    const routes: Array<Route> = []
    for (const group of groups) {
      for (const endpoint of Object.values(group.endpoints).filter(HttpApiEndpoint.isHttpApiEndpoint)) {
        const entry = entryOf(prefix, group, endpoint)
        routes.push(entry.route)
        const key = `${endpoint.method} ${entry.segments.length}`
        const list = this.entries.get(key) ?? []
        list.push(entry)
        this.entries.set(key, list)
      }
    }
    for (const list of this.entries.values()) list.sort((a, b) => parameters(a) - parameters(b))
    this.routes = routes
  }

  /** The route for a method (GET for HEAD) and a path without query, or null. */
  match(method: string, path: string): RouteMatch | null {
    if (!path.startsWith(this.prefix)) return null
    const parts = path.slice(this.prefix.length).split("/")
    const entry = this.entries.get(`${method} ${parts.length}`)?.find(({ segments }) => fits(segments, parts))
    return entry === undefined ? null : read(entry.route, entry.segments, parts)
  }
}

const parameters = ({ segments }: Entry): number => segments.filter((segment) => typeof segment !== "string").length

const fits = (segments: Entry["segments"], parts: ReadonlyArray<string>): boolean =>
  segments.every((segment, index) => (typeof segment === "string" ? segment === parts[index] : parts[index] !== ""))

const read = (route: Route, segments: Entry["segments"], parts: ReadonlyArray<string>): RouteMatch => {
  const params: Record<string, unknown> = {}
  let unknown: Noun | null = null
  for (const [index, segment] of segments.entries()) {
    if (typeof segment === "string") continue
    const value = segment.isId ? segment.read(parts[index] ?? "") : decoded(segment, parts[index] ?? "")
    if (Option.isSome(value)) params[segment.name] = value.value
    else if (segment.isId) params[segment.name] = noId
    else unknown ??= segment.names
  }
  return { route, params, unknown }
}

/** Decodes a segment. An id is not percent-decoded, because it has only one spelling. */
const decoded = (parameter: PathParameter, segment: string): Option.Option<unknown> => {
  try {
    return parameter.read(decodeURIComponent(segment))
  } catch {
    return Option.none()
  }
}

const entryOf = (prefix: string, group: Group, endpoint: HttpApiEndpoint.Top): Entry => {
  const operation = `${group.identifier}.${endpoint.identifier}`
  const types = fieldsOf(endpoint.params)
  const segments = endpoint.path
    .slice(1)
    .split("/")
    .map((segment): string | PathParameter => {
      if (!segment.startsWith(":")) return segment
      const name = segment.slice(1)
      const ast = types.get(name)
      if (ast === undefined) throw new Error(`the contract's ${operation} has no schema for its parameter ${name}`)
      const isId = isPathId(ast)
      return { name, isId, names: namedBy(ast), read: isId ? readId : Schema.decodeUnknownOption(readerOf(ast)) }
    })
  const fields = fieldsOf(endpoint.query)
  const annotations = Context.merge(group.annotations, endpoint.annotations)
  const route = {
    operation,
    method: endpoint.method,
    path: `${prefix}${endpoint.path}`,
    rules: Context.get(annotations, RouteRules),
    isPublic: Context.get(annotations, PublicRoute),
    ofClient: endpoint.path.includes("/:clientId"),
    query: queryParametersOf(fields),
    scanning: fields.has("before") ? scanningFilters(fields) : null,
    form: formOf(endpoint)
  }
  return { route, segments }
}

/** Parses an id exactly as its schema does, without the cost of running the schema for each request. */
const readId = (text: string): Option.Option<number> => Option.fromUndefinedOr(parseId(text))

const formOf = ({ success }: HttpApiEndpoint.Top): AnswerForm => {
  const schemas = [...success]
  return {
    ...kindOf(schemas[0]),
    statuses: schemas.map(({ ast }) => SchemaAST.resolveAt<number>("httpApiStatus")(ast) ?? 200),
    enveloped: schemas.every((schema) => {
      const members = fieldsOf(schema)
      return members.size === 2 && members.has("code") && members.has("data")
    })
  }
}

/** The form of an endpoint's first success; all its successes have the same form. */
const kindOf = (schema: Schema.Top | undefined): Pick<AnswerForm, "kind" | "contentType"> => {
  if (schema !== undefined && isByteStream(schema)) return { kind: "stream", contentType: schema.contentType }
  const encoding =
    schema === undefined
      ? undefined
      : SchemaAST.resolveAt<{ readonly _tag: string; readonly contentType?: string }>("~httpApiEncoding")(schema.ast)
  if (encoding?._tag !== "Uint8Array") return { kind: "json", contentType: "application/json" }
  return { kind: "bytes", contentType: encoding.contentType ?? "application/octet-stream" }
}

const isByteStream = (schema: Schema.Top): schema is Schema.Top & HttpApiSchema.StreamUint8Array =>
  "mode" in schema && schema.mode === "uint8array"
