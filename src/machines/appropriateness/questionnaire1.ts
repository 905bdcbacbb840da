/**
 * Version 1 of the appropriateness questionnaire, served until the operator publishes another. Its texts and points never
 * change (a change raises the version); test/machines/questionnaire.test.ts holds its hash (F24, A1-39).
 */
import type { Question, Questionnaire, QuestionOption } from "./Questionnaire.ts"

const option = (id: string, points: number, text: string): QuestionOption => ({ id, text, points })
const right = (id: string, points: number, text: string): QuestionOption => ({ id, text, points, right: true })
const caution = (id: string, text: string): QuestionOption => ({ id, text, points: 0, caution: true })

const experience: ReadonlyArray<Question> = [
  {
    id: "tradingExperience",
    section: "experience",
    text: "For how long have you traded leveraged or derivative products?",
    options: [
      option("none", 0, "Never"),
      option("under_one_year", 5, "Less than one year"),
      option("one_to_three_years", 10, "One to three years"),
      option("over_three_years", 15, "More than three years")
    ]
  },
  {
    id: "transactionCount",
    section: "experience",
    text: "How many such transactions did you make in the last twelve months?",
    options: [
      option("none", 0, "None"),
      option("one_to_ten", 5, "1 to 10"),
      option("eleven_to_forty", 10, "11 to 40"),
      option("over_forty", 15, "More than 40")
    ]
  },
  {
    id: "averageTransactionSize",
    section: "experience",
    text: "What was the usual size of such a transaction?",
    options: [
      option("none", 0, "I made none"),
      option("under_1k", 3, "Less than 1,000 USDC"),
      option("from_1k_to_10k", 6, "1,000 to 10,000 USDC"),
      option("over_10k", 10, "More than 10,000 USDC")
    ]
  }
]

const knowledge: ReadonlyArray<Question> = [
  {
    id: "barrierProductKnowledge",
    section: "knowledge",
    text: "What decides what a barrier product pays when it ends?",
    options: [
      right("barrier_touched", 20, "Whether the price of the underlying reached the barrier, and when"),
      option("fixed_interest", 0, "A fixed rate of interest that is agreed at the start"),
      option("issuer_choice", 0, "The issuer decides freely at the end")
    ]
  },
  {
    id: "knockoutKnowledge",
    section: "knowledge",
    text: "What happens when the price of the underlying reaches the knock-out level?",
    options: [
      right("ends_at_once", 20, "The product ends at once and the premium can be lost as a whole"),
      option("waits_for_recovery", 0, "The product waits until the price has recovered"),
      option("premium_returned", 0, "The premium is paid back")
    ]
  },
  {
    id: "riskUnderstanding",
    section: "knowledge",
    text: "You open a position with 10 times leverage. The price moves 10 percent against you. What is the result?",
    options: [
      right("margin_lost", 20, "About all of the margin of the position is lost"),
      option("ten_percent_of_margin", 0, "About 10 percent of the margin is lost"),
      option("nothing_until_closed", 0, "Nothing, as long as the position is not closed")
    ]
  }
]

const profile: ReadonlyArray<Question> = [
  {
    id: "investmentObjectives",
    section: "profile",
    text: "What do you want to reach with these products?",
    options: [
      option("speculation", 0, "Profit from short-term price changes"),
      option("hedging", 0, "Protect other investments"),
      option("growth", 0, "Let money grow in the long term"),
      caution("preserve_capital", "Preserve capital")
    ]
  },
  {
    id: "highRiskAllocation",
    section: "profile",
    text: "Which part of what you own would you put into products of high risk?",
    options: [
      option("under_ten_percent", 0, "Less than 10 percent"),
      option("ten_to_twenty_five_percent", 0, "10 to 25 percent"),
      option("twenty_five_to_fifty_percent", 0, "25 to 50 percent"),
      caution("over_half", "More than half of what I own")
    ]
  }
]

export const questionnaire1: Questionnaire = {
  sections: [
    { id: "experience", title: "Your experience" },
    { id: "knowledge", title: "Your knowledge" },
    { id: "profile", title: "Your objectives" }
  ],
  questions: [...experience, ...knowledge, ...profile],
  warningText:
    "Your answers suggest that these products may not be appropriate for you: they are complex, and you can lose the whole of what you put in.",
  acknowledgeText: "I have read the warning and I still wish to trade these products at my own risk."
}
