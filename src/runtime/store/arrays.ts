/** Arrays as statement parameters: one parameter for any length, so one statement text. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** For `$n::int8[]`. */
export const int8s = (values: ReadonlyArray<number | bigint>): unknown =>
  Result.getOrThrow(PgTypes.array(values.map(BigInt), PgTypes.OID.int8))

/** For `$n::text[]`. */
export const texts = (values: ReadonlyArray<string | null>): unknown =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

/** For `$n::bytea[]`. */
export const byteas = (values: ReadonlyArray<Uint8Array>): unknown =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.bytea))
