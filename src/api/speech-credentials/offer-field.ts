// The form of a vendor's offer on the wire.
import { list, object, word } from '../define/reply-fields.ts'

const choice = { value: word('The value for a field or a verb.'), name: word('The name for people.') }
const choices = list(object(choice))
const language = object({ ...choice, voices: choices.describe('The voices that speak it.') })

export const offerField = object({
  tts: list(language).describe('Languages that are spoken, each with its voices.').optional(),
  stt: choices.describe('Languages that are understood.').optional(),
  models: choices.describe('For `model_id`, to speak with.').optional(),
  sttModels: choices.describe('For `model_id`, to listen with.').optional(),
})
