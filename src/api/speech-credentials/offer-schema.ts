// What a vendor offers, as the wire shows it.
import { word } from '../define/described.ts'
import type { JsonSchema } from '../define/field.ts'

const named = { value: word('What to store in a field or a verb.'), name: word('What to show to people.') }
const choices = {
  type: 'array',
  items: { type: 'object', properties: named, required: ['value', 'name'] },
}

export const offerSchema: JsonSchema = {
  type: 'object',
  properties: {
    tts: {
      type: 'array',
      description: 'Languages that are spoken, each with its voices.',
      items: {
        type: 'object',
        properties: { ...named, voices: { ...choices, description: 'The voices that speak it.' } },
        required: ['value', 'name', 'voices'],
      },
    },
    stt: { ...choices, description: 'Languages that are understood.' },
    models: { ...choices, description: 'For `model_id`, to speak with.' },
    sttModels: { ...choices, description: 'For `model_id`, to listen with.' },
  },
}
