/** Arrays as statement parameters: one parameter for any length, so one statement text. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** Whole numbers as a parameter for `$n::int8[]`. */
export const int8s = (values: ReadonlyArray<number | bigint>): unknown =>
  Result.getOrThrow(PgTypes.array(values.map(BigInt), PgTypes.OID.int8))

/** Texts as a parameter for `$n::text[]`; null stays null. */
export const texts = (values: ReadonlyArray<string | null>): unknown =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

/** Bytes as a parameter for `$n::bytea[]`. */
export const byteas = (values: ReadonlyArray<Uint8Array>): unknown =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.bytea))
