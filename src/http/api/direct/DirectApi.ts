/** The contract of the direct API: the operator's own clients (doc 2, Direct client API summary). */
import { HttpApi, OpenApi } from "effect/http-api"
import { DirectAccess } from "../Security.ts"
import { DirectMarketApi } from "./DirectMarketApi.ts"

export const directPrefix = "/v1"
/** The address of the contract's description. */
export const directDocumentPath = `${directPrefix}/openapi.json`
export const directTitle = "Direct Client API"

export class DirectApi extends HttpApi.make("direct")
  .add(DirectMarketApi)
  .middleware(DirectAccess)
  .prefix(directPrefix)
  .annotateMerge(
    OpenApi.annotations({
      title: directTitle,
      version: "1.0.0",
      description:
        "Clients of the operator itself trade on their own account. Money is a decimal string in the currency's scale; times are Unix milliseconds, UTC. Every answer carries X-Request-Id. This page is made from [/v1/openapi.json](/v1/openapi.json), which tools read."
    })
  ) {}
