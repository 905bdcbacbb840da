/** The consolidated list of financial sanctions of the European Union, as XML (versions 1.0 and 1.1). */
import { sanctionsUnless } from "./ListLine.ts"
import type { Lines } from "./unitedNationsFormat.ts"
import { childrenOf, type XmlElement, type XmlFormat } from "./XmlReader.ts"

const place = "@region @place @city @street @poBox @zipCode @countryIso2Code @countryDescription @asAtListingTime"
const legal = "@regulationLanguage @logicalId remark regulationSummary"

export const europeanUnion: XmlFormat & Lines = {
  root: "export",
  entries: ["sanctionEntity"],
  members: {
    sanctionEntity: (
      "remark regulation subjectType nameAlias identification address birthdate citizenship @designationDate " +
      "@designationDetails @unitedNationId @euReferenceNumber @logicalId"
    ).split(" "),
    subjectType: ["@code", "@classificationCode"],
    nameAlias:
      `${legal} @firstName @middleName @lastName @wholeName @function @gender @title @nameLanguage @strong`.split(" "),
    birthdate:
      `${legal} ${place} @circa @calendarType @birthdate @dayOfMonth @monthOfYear @year @yearRangeFrom @yearRangeTo`.split(
        " "
      ),
    citizenship: `${legal} ${place}`.split(" ")
  },
  lineOf: (element, options) => {
    const where = `line ${element.line}`
    const kind = childrenOf(element, "subjectType")[0]?.attributes["code"] ?? ""
    if (kind === "enterprise") return { place: where, kind: "notPerson" }
    if (kind !== "person") {
      return { place: where, kind: "wrong", sentence: `The type ${JSON.stringify(kind.slice(0, 100))} is not known.` }
    }
    return {
      place: where,
      kind: "entry",
      entry: {
        names: childrenOf(element, "nameAlias").map(fullName),
        dobs: childrenOf(element, "birthdate").map(birthDate),
        // Code 00 stands for an unknown citizenship.
        countries: childrenOf(element, "citizenship")
          .map(({ attributes }) => attributes["countryIso2Code"] ?? "")
          .filter((code) => code !== "00"),
        list: sanctionsUnless(options)
      }
    }
  }
}

const fullName = ({
  attributes: { wholeName = "", firstName = "", middleName = "", lastName = "" }
}: XmlElement): string => (wholeName.trim() === "" ? [firstName, middleName, lastName].join(" ") : wholeName)

/** The birth date as a text that includes the kind of date; empty when there is none. */
const birthDate = ({ attributes: given }: XmlElement): string => {
  const { birthdate = "", year = "", monthOfYear = "", dayOfMonth = "", yearRangeFrom = "", yearRangeTo = "" } = given
  const parts = [year, ...[monthOfYear, dayOfMonth].map((part) => part.padStart(part === "" ? 0 : 2, "0"))]
  const range = yearRangeFrom + yearRangeTo === "" ? "" : `${yearRangeFrom} to ${yearRangeTo}`
  const date = [birthdate, range, parts.filter((part) => part !== "").join("-")].find((text) => text !== "") ?? ""
  const { circa, calendarType = "GREGORIAN" } = given
  if (date === "") return ""
  if (calendarType !== "GREGORIAN") return `${date} ${calendarType}`
  return circa === "true" && range === "" ? `circa ${date}` : date
}
