/**
 * Builds the published OpenAPI documents from the contracts: of partners (/openapi.json, /partner/openapi.json, /docs) and of
 * the direct API (/v1/openapi.json, /docs/direct). HttpApi makes almost all of them. A transformation adds: numeric parameters as numbers (HttpApi describes their text form), objects that may gain
 * members (unknown fields are ignored, routes only gain fields), answer headers, examples of refusals, and webhooks (doc 1;
 * doc 3; A1-01).
 */
import { Schema } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { DirectApi, directPrefix } from "./api/direct/DirectApi.ts"
import { PartnerApi } from "./api/PartnerApi.ts"
import { guides } from "./guides/guides.ts"
import { sandboxText } from "./api/sandboxText.ts"
import { describeStatements } from "./api/statementAnswers.ts"
import { examplesOfRefusal, refusalExamples } from "./examples/refusalExamples.ts"
import { withExamples } from "./examples/withExamples.ts"
import { RouteTable } from "./middleware/routes.ts"
import { webhookItems, webhookTag } from "./api/webhookEvents.ts"

interface JsonObject {
  [key: string]: unknown
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema?: JsonObject
}

interface Answer {
  readonly content?: Readonly<Record<string, object>>
}

/** The schemas of an endpoint's path and query parameters by name, as values instead of their text form. */
const valuesOf = (schema: Schema.Top | undefined): Readonly<Record<string, JsonObject>> =>
  schema === undefined
    ? {}
    : (Schema.toJsonSchemaDocument(Schema.toType(schema)).schema["properties"] as Record<string, JsonObject>)

/** Parameter values by operation and by place (path or query). */
const parameterValues = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) => {
  const found = new Map<string, Readonly<Record<string, Readonly<Record<string, JsonObject>>>>>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ group, endpoint }) =>
      void found.set(`${group.identifier}.${endpoint.identifier}`, {
        path: valuesOf(endpoint.params),
        query: valuesOf(endpoint.query)
      })
  })
  return found
}

const text = (description: string) => ({ description, schema: { type: "string" } })
const seconds = (description: string) => ({ description, schema: { type: "integer", minimum: 0 } })
const always = { "X-Request-Id": text("The request's id: the one sent, or one made by the service.") }
const retry = { "Retry-After": seconds("Seconds until a retry can succeed.") }
const rates = {
  "RateLimit-Limit": seconds("Requests of this kind in 60 seconds."),
  "RateLimit-Remaining": seconds("Requests left in the window."),
  "RateLimit-Reset": seconds("Seconds until the next slot frees.")
}

const link = { Link: text('Only when there are more: where the list goes on, with rel="next" (RFC 8288).') }

const headersOf = (status: number, isLimited: boolean, goesOn: boolean): JsonObject => ({
  ...always,
  ...(goesOn && status === 200 ? link : {}),
  ...(isLimited && (status < 300 || status === 429) ? rates : {}),
  ...(status === 429 || status === 503 ? retry : {})
})

const methods = ["get", "post", "put", "delete"] as const

/** Removes `additionalProperties: false` everywhere, because objects may gain members. */
const open = (node: unknown): void => {
  if (typeof node !== "object" || node === null) return
  const record = node as JsonObject
  if (record["additionalProperties"] === false) delete record["additionalProperties"]
  for (const value of Object.values(record)) open(value)
}

const anything = { description: "Anything else: it is judged, and refused, by itself." }

/**
 * Simplifies a schema for tools: a choice with one option becomes that option, an unrestricted choice lists its types, a
 * tuple gets `items`.
 */
const simplify = (node: unknown): void => {
  if (!isRecord(node)) return
  for (const value of Object.values(node)) simplify(value)
  const { anyOf, prefixItems, items } = node
  if (Array.isArray(prefixItems) && items === undefined) node["items"] = {}
  if (!Array.isArray(anyOf)) return
  for (const choice of anyOf) if (isRecord(choice) && Object.keys(choice).length === 0) Object.assign(choice, anything)
  if (anyOf.length > 1) return
  delete node["anyOf"]
  Object.assign(node, anyOf[0], { ...node })
}

const isRecord = (node: unknown): node is JsonObject => typeof node === "object" && node !== null

/** The schema with null allowed. The description stays on the outside, where tools read it. */
const nullable = (schema: JsonObject): JsonObject => {
  if (typeof schema["type"] === "string" && schema["enum"] === undefined) {
    return { ...schema, type: [schema["type"], "null"] }
  }
  const { description, ...rest } = schema
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: "null" }] }
}

/** Allows null for every optional member of a body, because null counts as absent. */
const optionalOrNull = (node: unknown): void => {
  if (!isRecord(node)) return
  for (const value of Object.values(node)) optionalOrNull(value)
  const { properties, required } = node
  if (!isRecord(properties)) return
  for (const [name, schema] of Object.entries(properties)) {
    const needed = Array.isArray(required) && required.includes(name)
    if (!needed && isRecord(schema)) properties[name] = nullable(schema)
  }
}

const sandboxSection = (): string => `# Sandbox names and values\n\n${sandboxText()}`
const contact = { name: "The operator's integration desk" }
const license = { name: "By agreement with the operator", identifier: "LicenseRef-Agreement" }

/** OpenAPI 3.1 with webhooks, which HttpApi's type lacks. */
export interface OpenApiDocument extends OpenApi.OpenAPISpec {
  readonly webhooks?: Readonly<Record<string, object>>
}

/** A contract with the parts of its document that HttpApi does not make. */
interface Publication<Id extends string, Groups extends HttpApiGroup.Constraint> {
  readonly api: HttpApi.HttpApi<Id, Groups>
  /** Chapters after the description of the contract. */
  readonly chapters: () => ReadonlyArray<string>
  readonly webhooks: (() => Readonly<Record<string, object>>) | null
  /** Whether the routes of an operation have a rate limit for each caller. */
  readonly isLimited: (operation: OpenApi.OpenAPISpecOperation) => boolean
  /** Completes the description of one operation. */
  readonly complete: (operation: OpenApi.OpenAPISpecOperation) => void
}

/** Copies a parameter's description from its schema to the parameter, where tools read it. */
const describe = (parameter: Parameter): void => {
  const found = parameter.schema?.["description"]
  if (found !== undefined) Object.assign(parameter, { description: found })
}

const published = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  { api, chapters, webhooks, isLimited, complete }: Publication<Id, Groups>,
  described: OpenApi.OpenAPISpec
): OpenApiDocument => {
  const components = { ...described.components, examples: refusalExamples }
  const spec = {
    ...described,
    info: {
      ...described.info,
      contact,
      license,
      description: [described.info.description, ...chapters()].join("\n\n")
    },
    servers: [{ url: "/", description: "The service that serves this description" }],
    components,
    ...(webhooks === null ? {} : { webhooks: webhooks(), tags: [...described.tags, webhookTag] })
  }
  open(spec)
  simplify(spec)
  const values = parameterValues(api)
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const method of methods) {
      const operation = item[method]
      if (operation === undefined) continue
      optionalOrNull(operation.requestBody)
      for (const parameter of operation.parameters as ReadonlyArray<Parameter>) {
        const schema = values.get(operation.operationId)?.[parameter.in]?.[parameter.name]
        if (schema?.["type"] === "integer" || schema?.["enum"] !== undefined) Object.assign(parameter, { schema })
        describe(parameter)
      }
      const goesOn =
        values.get(operation.operationId)?.["query"]?.["after"] !== undefined ||
        operation.operationId === "statements.list"
      for (const [status, response] of Object.entries(operation.responses)) {
        const headers = headersOf(Number(status), isLimited(operation), goesOn)
        Object.assign(response as object, { headers })
        const body = (response as Answer).content?.["application/json"]
        const examples = examplesOfRefusal(operation.operationId, method, path, Number(status))
        if (body !== undefined && Object.keys(examples).length > 0) Object.assign(body, { examples })
      }
      complete(operation)
    }
  }
  withExamples(spec)
  return spec
}

/** The contract of partners as published, in the document and on the reference page. */
export const PublishedApi = PartnerApi.annotate(OpenApi.Transform, (described) =>
  published(
    {
      api: PartnerApi,
      chapters: () => [guides(), sandboxSection()],
      webhooks: webhookItems,
      isLimited: ({ security }) => security.length > 0,
      complete: ({ operationId, responses }) => describeStatements(operationId, responses)
    },
    described as OpenApi.OpenAPISpec
  )
)

/** The contract of the direct API as published. Each operation shows which credentials may use it. */
export const PublishedDirectApi = DirectApi.annotate(OpenApi.Transform, (described) =>
  published(
    { api: DirectApi, chapters: () => [], webhooks: null, isLimited: () => true, complete: badge },
    described as OpenApi.OpenAPISpec
  )
)

/**
 * Shows the access of an operation: `x-access` is for tools, the reference page draws `x-badges`. Throws for a route whose access
 * has no name here.
 */
const badge = (operation: OpenApi.OpenAPISpecOperation): void => {
  const { routes } = new RouteTable(directPrefix, Object.values(DirectApi.groups))
  const isPublic = routes.some((route) => route.operation === operation.operationId && route.isPublic)
  if (!isPublic) throw new Error(`the access of ${operation.operationId} has no badge`)
  const access = "Public"
  Object.assign(operation, { "x-access": access, "x-badges": [{ name: access }] })
}

/** The document of partners as a plain value. Each call makes a copy, so the caller should keep it. */
export const openApiDocument = (): OpenApiDocument => OpenApi.fromApi(PublishedApi) as OpenApiDocument

/** As `openApiDocument`, of the direct API. */
export const directDocument = (): OpenApiDocument => OpenApi.fromApi(PublishedDirectApi) as OpenApiDocument

/** Renders an object as JSON. Members down to `depth` have their own lines. */
const linesOf = (value: unknown, depth: number): string =>
  depth === 0 || typeof value !== "object" || value === null
    ? JSON.stringify(value)
    : `{\n${Object.entries(value)
        .map(([name, member]) => `${JSON.stringify(name)}: ${linesOf(member, depth - 1)}`)
        .join(",\n")}\n}`

/** The text of a document that is served and stored in docs: one line per operation and component. */
export const openApiText = ({ paths, components, ...rest }: OpenApiDocument = openApiDocument()): string => {
  const head = Object.entries(rest).map(([name, member]) => `${JSON.stringify(name)}: ${JSON.stringify(member)}`)
  return `{\n${[...head, `"paths": ${linesOf(paths, 2)}`, `"components": ${linesOf(components, 2)}`].join(",\n")}\n}\n`
}
