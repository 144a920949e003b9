// What a vendor offers, as the wire shows it.
import { list, object, word } from '../define/reply-fields.ts'

const choice = { value: word('What to store in a field or a verb.'), name: word('What to show to people.') }
const choices = list(object(choice))
const language = object({ ...choice, voices: choices.describe('The voices that speak it.') })

export const offerField = object({
  tts: list(language).describe('Languages that are spoken, each with its voices.').optional(),
  stt: choices.describe('Languages that are understood.').optional(),
  models: choices.describe('For `model_id`, to speak with.').optional(),
  sttModels: choices.describe('For `model_id`, to listen with.').optional(),
})
