// Parameters that a phone adds to a number reach a carrier only if the carrier needs them and they are checked.
import { describe, expect, it } from 'vitest'
import { callRequest, outboundCarrier } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { cleanNumber } from './number-parameters.ts'

async function call(number: string) {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.waysOut = [outboundCarrier('c1', { e164_leading_plus: true })]
  const { call_sid } = await placeOn(engine, { ...callRequest, to: { type: 'phone', number } })
  await settle()
  const story = engine.store.journalOf(call_sid)
  const notes = story.flatMap((event) => (event.type === 'note' ? [event.sentence] : []))
  return { options: engine.sent[0]?.options, notes }
}

describe('the number that a carrier is sent', () => {
  it.each([
    ['cic=+10288;tgrp=premium;trunk-context=x@realm', 'cic, tgrp, trunk-context'],
    ['ext=9', 'ext'],
    ['isub=1', 'isub'],
    ['postd=p881612345678', 'postd'],
    ['verstat=TN-Validation-Passed', 'verstat'],
    ['rn=881612345678', 'rn'],
  ])('has no parameter %s, in Request-URI and To, and the journal says so', async (params, names) => {
    const { options, notes } = await call(`+442079460000;${params}`)
    expect([options?.uri, options?.to]).toEqual(Array(2).fill('sip:+442079460000@192.0.2.10;transport=udp'))
    expect(notes).toContain(`parameters of the number that are not sent: ${names}`)
  })

  it('keeps what says where it has been ported to', async () => {
    const { options, notes } = await call('+442079460000;npdi;rn=+442079460001')
    expect(options?.uri).toBe('sip:+442079460000;npdi;rn=+442079460001@192.0.2.10;transport=udp')
    expect(notes).toEqual([])
  })

  it.each([
    ['2079460000;phone-context=+44', '2079460000;phone-context=+44', []],
    ['+442079460000;phone-context=+881', '+442079460000', ['phone-context']],
    ['2079460000;phone-context=+44;Phone-Context=+1900', '2079460000;phone-context=+44', ['Phone-Context']],
    ['+44;RN=+441;rn=+881612345678', '+44;RN=+441', ['rn']],
    ['+44;npdi=x', '+44', ['npdi']],
    ['*31#', '*31#', []],
  ])('of %s is %s', (text, number, dropped) => {
    expect(cleanNumber(text)).toEqual({ number, dropped })
  })

  it('does not exist where there are only parameters', async () => {
    const { options } = await call(';ext=9')
    expect(options).toBeUndefined()
  })
})
