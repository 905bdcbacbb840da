/** The consolidated list of the Security Council of the United Nations, as XML. */
import { type FormatOptions, type ListLine, sanctionsUnless } from "./ListLine.ts"
import { childrenOf, textOf, type XmlElement, type XmlFormat } from "./XmlReader.ts"

const shared =
  "DATAID VERSIONNUM FIRST_NAME SECOND_NAME THIRD_NAME FOURTH_NAME UN_LIST_TYPE REFERENCE_NUMBER LISTED_ON SUBMITTED_ON " +
  "SUBMITTED_BY NAME_ORIGINAL_SCRIPT COMMENTS1 LIST_TYPE LAST_DAY_UPDATED DELISTED_ON SORT_KEY SORT_KEY_LAST_MOD"

export const unitedNations: XmlFormat & Lines = {
  root: "CONSOLIDATED_LIST",
  entries: ["INDIVIDUALS/INDIVIDUAL", "ENTITIES/ENTITY"],
  members: {
    INDIVIDUAL: (
      `${shared} GENDER TITLE DESIGNATION NATIONALITY NATIONALITY2 INDIVIDUAL_ALIAS INDIVIDUAL_ADDRESS ` +
      "INDIVIDUAL_DATE_OF_BIRTH INDIVIDUAL_PLACE_OF_BIRTH INDIVIDUAL_DOCUMENT"
    ).split(" "),
    NATIONALITY: ["VALUE"],
    INDIVIDUAL_ALIAS: ["QUALITY", "ALIAS_NAME", "DATE_OF_BIRTH", "CITY_OF_BIRTH", "COUNTRY_OF_BIRTH", "NOTE"],
    INDIVIDUAL_DATE_OF_BIRTH: ["TYPE_OF_DATE", "DATE", "YEAR", "FROM_YEAR", "TO_YEAR", "NOTE"]
  },
  lineOf: (element, options) => {
    const place = `line ${element.line}`
    if (element.name !== "INDIVIDUAL") return { place, kind: "notPerson" }
    const aliases = childrenOf(element, "INDIVIDUAL_ALIAS")
    return {
      place,
      kind: "entry",
      entry: {
        names: [
          ["FIRST_NAME", "SECOND_NAME", "THIRD_NAME", "FOURTH_NAME"].map((name) => textOf(element, name)).join(" "),
          ...[textOf(element, "NAME_ORIGINAL_SCRIPT"), ...aliases.map((alias) => textOf(alias, "ALIAS_NAME"))].flatMap(
            namesIn
          )
        ],
        dobs: [
          ...childrenOf(element, "INDIVIDUAL_DATE_OF_BIRTH").map(birthDate),
          ...aliases.map((alias) => textOf(alias, "DATE_OF_BIRTH"))
        ],
        countries: [
          ...childrenOf(element, "NATIONALITY").flatMap((each) => childrenOf(each, "VALUE")),
          ...childrenOf(element, "NATIONALITY2")
        ].map(({ text }) => text),
        list: sanctionsUnless(options)
      }
    }
  }
}

/** Reads one element of a published XML list as a line of the common form. */
export interface Lines {
  readonly lineOf: (element: XmlElement, options: FormatOptions) => ListLine
}

/** Splits names. "A; B" is two names, and text in brackets is a name too: "حسن غول (Hassan Ghul; Hassan Gul)". */
const namesIn = (text: string): ReadonlyArray<string> => {
  const inBrackets = [...text.matchAll(/\(([^()]*)\)/g)].flatMap((match) => match[1]!.split(";"))
  return [...text.replace(/\([^()]*\)/g, " ").split(";"), ...inBrackets]
}

/** The birth date as a text that includes the kind of date; empty when there is none. */
const birthDate = (element: XmlElement): string => {
  const [type, note] = [textOf(element, "TYPE_OF_DATE"), textOf(element, "NOTE")]
  const [from, to] = [textOf(element, "FROM_YEAR"), textOf(element, "TO_YEAR")]
  const date = [textOf(element, "DATE"), textOf(element, "YEAR"), from === "" ? note : `${from} to ${to}`]
  const written = date.find((text) => text !== "") ?? ""
  const isNear = type === "APPROXIMATELY" || /^approx/i.test(note)
  return isNear && written !== "" ? `circa ${written}` : written
}
