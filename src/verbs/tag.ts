// The verb tag: sets the customerData of later payloads.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'

export const tag = defineVerb({
  name: 'tag',
  summary: 'Sets customerData, which every later hook of the call carries; replaces what was set before.',
  example: [
    { verb: 'tag', data: { order: 4711 } },
    { verb: 'say', text: 'Your order is on its way.' },
  ],
  needs: 'nothing',
  uses: ['tags'],
  schema: Type.Object({ data: Type.Object({}, { description: 'Passed through untouched.' }) }),
  async execute({ data }, { tags }) {
    tags.set(data)
  },
})
