// Parameters that a phone adds to a number reach a carrier only if the carrier needs them and they are checked.
import { describe, expect, it } from 'vitest'
import { callRequest, outboundCarrier } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { combine, noChoices } from '../defence-settings.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { readDialled, serializeDialled } from './dialled-number.ts'

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
    ['+442079460000;phone-context=+881', '+442079460000', ['phone-context']],
    ['+44;RN=+441;rn=+881612345678', '+44;rn=+441', ['rn']],
    ['+44;npdi=x', '+44', ['npdi']],
    ['+44 (20) 7946.0000;npdi', '+442079460000;npdi', []],
    ['\u202a+442079460000\u202c', '+442079460000', []],
    ['020-7946\u00a00000', '02079460000', []],
  ])('of %j is %s', (text, number, dropped) => {
    const read = readDialled(text)
    expect(read && serializeDialled(read)).toBe(number)
    expect(read?.dropped).toEqual(dropped)
  })

  it('is journalled as it was written, if that is another form', async () => {
    const { options, notes } = await call('+44 (20) 7946-0000')
    expect(options?.uri).toBe('sip:+442079460000@192.0.2.10;transport=udp')
    expect(notes).toContain('the number was written "+44 (20) 7946-0000"')
  })

  it.each([
    '9,00198812345678',
    '9p0019005550100',
    '9w0019005550100',
    '15551234567&0019005550100',
    '15551234567|0019005550100',
    '15551234567^0019005550100',
    '*6712125550100',
    '*31#',
    '#31#+442079460000',
    '+1-800-FLOWERS',
    '+4420\u0661',
    '+442079460000\u0000',
    '＋442079460000',
    '++442079460000',
    '00+442079460000',
    '+0442079460000',
    '+4420794600001234',
    '2079460000;phone-context=+44',
    'tel:+442079460000',
    'alice',
    ';ext=9',
    '+',
    '',
  ])('does not exist for %j, which is refused with a code', async (text) => {
    expect(readDialled(text)).toBeUndefined()
    const engine = createScriptedEngine(parsePlainVerbs)
    engine.waysOut = [outboundCarrier('c1')]
    engine.defence = combine(noChoices, { ...noChoices, open_prefixes: ['+'] })
    const to = { type: 'phone', number: text } as const
    await expect(engine.calls.prepare({ ...callRequest, to })).rejects.toMatchObject({
      code: 'unreadable_number',
    })
    expect(engine.sent).toEqual([])
  })
})
