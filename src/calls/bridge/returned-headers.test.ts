// History-Info (RFC 7044) and User-to-User (RFC 7433) of a called carrier go on to the caller; those of a phone do not.
import { describe, expect, it } from 'vitest'
import { outboundCarrier, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { parseVerbs } from '../../verbs/index.ts'

const uui = (value: string) => ({ name: 'user-to-user', value: `${value};encoding=hex` })
const history = { name: 'history-info', value: '<sip:+4931@carrier.example>;index=1' }
const secret = { name: 'x-secret', value: 'inside' }
const carrier = { type: 'phone', number: '+15550100' }
const user = { type: 'user', name: 'alice' }

async function calling(dial: object) {
  const engine = createScriptedEngine(parseVerbs)
  engine.waysOut = [outboundCarrier('c1')]
  engine.phones.set(phone.aor, [phone])
  engine.hooks.on('/call', [{ verb: 'dial', answerOnBridge: true, ...dial }])
  const caller = engine.ring()
  await calm()
  const [called, second] = engine.sent
  if (called === undefined) throw new Error('no one was called')
  return { caller, called, second }
}

describe('History-Info and User-to-User of a called carrier', () => {
  it('are in the responses to the caller that follow, and other fields are not', async () => {
    const { caller, called } = await calling({ target: [carrier] })
    called.progress(181, undefined, 'one', [history, secret])
    called.progress(180, undefined, 'one', [uui('01'), secret])
    called.progress(183, 'v=0 early', 'one', [uui('02'), { name: 'user-to-user', value: 'a\r\nX: y' }])
    await calm()
    called.answer(undefined, 'one', [history, uui('03'), secret])
    await calm()
    const sent = caller.provisionals.map(({ status, headers }) => [status, headers])
    expect(sent).toEqual([
      [181, [history]],
      [180, [history]],
      [183, [uui('02')]],
    ])
    expect(caller.accepted?.headers).toEqual([history, uui('03')])
  })

  it.each([
    ['a phone', { target: [user] }],
    ['a carrier whose identity is not forwarded', { target: [carrier], forwardPAI: false }],
  ])('do not come from %s', async (_who, dial) => {
    const { caller, called } = await calling(dial)
    called.progress(180, undefined, 'one', [uui('01')])
    await calm()
    called.answer(undefined, 'one', [history])
    await calm()
    expect(caller.provisionals).toEqual([{ status: 180 }])
    expect(caller.accepted?.headers).toBeUndefined()
  })

  it('are left out beyond the size that a response can have', async () => {
    const { caller, called } = await calling({ target: [carrier] })
    const long = Array.from({ length: 60 }, () => ({
      ...history,
      value: `${history.value};${'x'.repeat(600)}`,
    }))
    called.answer(undefined, 'one', long)
    await calm()
    expect(caller.accepted?.headers).toHaveLength(6)
  })

  it('are those of the one that answers, where several ring', async () => {
    const { caller, called, second } = await calling({
      target: [carrier, { ...carrier, number: '+15550101' }],
    })
    called.progress(180, undefined, 'one', [uui('01')])
    await calm()
    second?.answer(undefined, 'one', [uui('02')])
    await calm()
    expect(caller.provisionals).toEqual([{ status: 180 }])
    expect(caller.accepted?.headers).toEqual([uui('02')])
  })
})
