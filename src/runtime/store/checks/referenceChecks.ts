/** The checks of references against the rows filed under them (store/references.ts). */
import type { ReferenceSpace } from "../references.ts"

/** Checks both ways that everything filed in these spaces has its reference's claim, and that each claim names a filed row. */
export const referencesHeld = <const Name extends string>(name: Name, spaces: ReadonlyArray<ReferenceSpace>) => {
  const filed = spaces
    .map(
      ({ space, filed: rows }) =>
        `SELECT '${space}:' || whose || ':' || reference AS name, id AS owner FROM (${rows}) r`
    )
    .join(" UNION ALL ")
  const claimed = spaces.map(({ space }) => `name LIKE '${space}:%'`).join(" OR ")
  const nouns = spaces.map(({ space, one }) => `WHEN '${space}' THEN '${one}'`).join(" ")
  return {
    name,
    figure: `SELECT count(*) AS n FROM claims WHERE ${claimed}`,
    breaks: `WITH filed AS MATERIALIZED (${filed}),
             held AS MATERIALIZED (SELECT name, owner FROM claims WHERE ${claimed})
             SELECT CASE split_part(coalesce(f.name, h.name), ':', 1) ${nouns} END || ' ' || coalesce(f.owner, h.owner)
                    || CASE WHEN h.name IS NULL THEN ' does not hold its reference' ELSE ' holds a reference that is not its own' END AS what
               FROM filed f FULL JOIN held h ON h.name = f.name AND h.owner = f.owner
              WHERE f.name IS NULL OR h.name IS NULL LIMIT 1`
  }
}
