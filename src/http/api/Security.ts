/**
 * The authentication of partners, and the answers that any partner route may give before its own rules run. Declared once for
 * the contract (doc 1, Authentication; A1-02, A1-07).
 */
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import {
  Forbidden,
  InternalError,
  NotFound,
  RequestTimeout,
  TooLarge,
  TooManyRequests,
  Unauthorized,
  Unavailable
} from "./WireErrors.ts"

const described = (description: string) => OpenApi.annotations({ description })

/** The partner key, `pbk_...`, in one of two headers; Authorization takes precedence. */
export class PartnerKey extends HttpApiMiddleware.Service<PartnerKey>()("brokerage/http/api/PartnerKey", {
  requiredForClient: true,
  security: {
    // Lower case, as OpenAPI and the HTTP registry write it: tools read other spellings as Basic.
    bearer: HttpApiSecurity.http({ scheme: "bearer" }).pipe(
      HttpApiSecurity.annotateMerge(described("Authorization: Bearer pbk_..., the partner key."))
    ),
    partnerKey: HttpApiSecurity.apiKey({ key: "X-Partner-Key", in: "header" }).pipe(
      HttpApiSecurity.annotateMerge(described("The partner key in its own header."))
    )
  },
  error: [Unauthorized, Forbidden, NotFound, RequestTimeout, TooLarge, TooManyRequests, InternalError, Unavailable]
}) {}

/** The answers that any route of the direct API may give before its own rules run. */
export class DirectAccess extends HttpApiMiddleware.Service<DirectAccess>()("brokerage/http/api/DirectAccess", {
  error: [TooManyRequests, InternalError, Unavailable]
}) {}
