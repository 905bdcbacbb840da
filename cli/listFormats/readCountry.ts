/**
 * Reads countries as published lists write them: a code, a region's code (gb-sct), or an English name used by the United
 * Nations, the United States or Unicode. A former country (Soviet Union) has no code and counts as unknown.
 */
import { countryCodes, isCountry } from "../../src/machines/shared/Country.ts"

/** The ISO 3166-1 alpha-2 code; null for an unreadable text. */
export const readCountry = (text: string): string | null => {
  const written = text.trim()
  const code = /^([A-Za-z]{2})(?:-[A-Za-z0-9]{1,3})?$/.exec(written)?.[1]?.toUpperCase()
  if (code !== undefined) return isCountry(code) ? code : null
  named ??= namedCountries()
  return named.get(folded(written)) ?? null
}

/** Built at the first use, because many commands and files need no country name. */
let named: ReadonlyMap<string, string> | undefined

const namedCountries = (): ReadonlyMap<string, string> => {
  const names = new Intl.DisplayNames(["en"], { type: "region" })
  return new Map([
    ...[...countryCodes].map((code) => [folded(names.of(code) ?? code), code] as const),
    ...Object.entries(otherNames).flatMap(([code, others]) => others.map((name) => [folded(name), code] as const))
  ])
}

const folded = (name: string): string =>
  name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("&", " and ")
    .split(/[^a-z]+/)
    .filter((word) => word !== "" && word !== "the")
    .join(" ")

/** Names that Unicode does not have. */
const otherNames: Readonly<Record<string, ReadonlyArray<string>>> = {
  BO: ["Bolivia (Plurinational State of)"],
  BN: ["Brunei Darussalam"],
  CD: ["Democratic Republic of the Congo", "Congo, Democratic Republic of the"],
  CG: ["Congo", "Republic of the Congo", "Congo, Republic of the"],
  CI: ["Ivory Coast"],
  CV: ["Cabo Verde"],
  CZ: ["Czech Republic"],
  FM: ["Micronesia (Federated States of)"],
  GB: ["United Kingdom of Great Britain and Northern Ireland"],
  GM: ["Gambia, The"],
  HK: ["Hong Kong"],
  IR: ["Iran (Islamic Republic of)", "Islamic Republic of Iran"],
  KP: ["Democratic People's Republic of Korea", "Korea, North", "DPRK"],
  KR: ["Republic of Korea", "Korea, South"],
  LA: ["Lao People's Democratic Republic"],
  MD: ["Republic of Moldova"],
  MK: ["Macedonia, The Former Yugoslav Republic of", "North Macedonia, The Republic of"],
  MM: ["Burma", "Myanmar"],
  MO: ["Macau", "Macao"],
  NL: ["Netherlands (Kingdom of the)", "Kingdom of the Netherlands"],
  PS: ["State of Palestine", "Palestine", "Palestinian"],
  RU: ["Russian Federation"],
  SY: ["Syrian Arab Republic"],
  SZ: ["Swaziland"],
  TL: ["East Timor"],
  TR: ["Turkey"],
  TZ: ["United Republic of Tanzania"],
  US: ["United States of America"],
  VA: ["Holy See"],
  VE: ["Venezuela (Bolivarian Republic of)"],
  VN: ["Viet Nam"]
}
