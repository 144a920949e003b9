// The hooks for requests of the far end within the dialog: referHook and sipRequestWithinDialogHook.
import { describe, expect, it } from 'vitest'
import { callRequest, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { ScriptedReferral } from '../../../test/support/scripted-engine/scripted-referral.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedDialog } from '../../../test/support/scripted-engine/scripted-dialog.ts'
import { AppError } from '../../lib/errors.ts'
import { parseVerbs } from '../../verbs/index.ts'

const menu = { verb: 'play', url: 'http://app.test/menu.wav', loop: 0 }

/** An answered call of a user that runs `config` with these options, and then plays for ever. */
async function configured(options: object) {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  engine.hooks.on('/call', [{ verb: 'config', ...options }, menu])
  const invite = engine.ring()
  await calm()
  if (invite.dialog === undefined) throw new Error('the call was not answered')
  return { engine, dialog: invite.dialog }
}

async function send(dialog: ScriptedDialog, method: string, body = '', type = 'text/plain') {
  const headers = [
    { name: 'x-case', value: '7' },
    { name: 'contact', value: '<sip:alice@10.0.0.5>' },
  ]
  const reply = await dialog.listener.requested(sipRequest(method, { headers, type, body }))
  await calm()
  return reply
}

describe('sipRequestWithinDialogHook', () => {
  it.each([
    ['INFO', 200],
    ['MESSAGE', 202],
  ])('is asked about %s, which gets %i at once', async (method, status) => {
    const { engine, dialog } = await configured({ sipRequestWithinDialogHook: '/request' })
    expect((await send(dialog, method, 'hello')).status).toBe(status)
    expect(engine.hooks.payloadsOf('/request')).toMatchObject([
      {
        direction: 'inbound',
        sip_method: method,
        sip_body: 'hello',
        sip_headers: { 'x-case': '7', 'content-type': 'text/plain' },
      },
    ])
    expect(engine.hooks.payloadsOf('/request')[0]?.['sip_headers']).not.toHaveProperty('contact')
    expect(dialog.sentBye).toBeUndefined()
  })

  it('takes the call over with the verbs that it answers', async () => {
    const { engine, dialog } = await configured({ sipRequestWithinDialogHook: '/request' })
    engine.hooks.on('/request', [{ verb: 'hangup' }])
    await send(dialog, 'INFO', 'bye')
    expect(dialog.sentBye).toBeDefined()
  })

  it('is not asked about keys', async () => {
    const { engine, dialog } = await configured({ sipRequestWithinDialogHook: '/request' })
    expect(
      (await send(dialog, 'INFO', 'Signal=1\r\nDuration=100\r\n', 'application/dtmf-relay')).status,
    ).toBe(200)
    expect(engine.hooks.payloadsOf('/request')).toEqual([])
  })

  it('that is not set leaves INFO with 200, and MESSAGE with 405', async () => {
    const { engine, dialog } = await configured({})
    expect((await send(dialog, 'INFO', 'hello')).status).toBe(200)
    expect((await send(dialog, 'MESSAGE', 'hello')).status).toBe(405)
    expect(engine.hooks.asked).toHaveLength(1)
  })

  it('that does not answer holds up eight requests, and the far end is asked to wait with the ninth', async () => {
    const { engine, dialog } = await configured({ sipRequestWithinDialogHook: '/request' })
    engine.hooks.answers.set('/request', () => new Promise(() => undefined))
    const statuses: number[] = []
    for (let n = 0; n < 9; n++) statuses.push((await send(dialog, 'INFO', `${n}`)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 503])
    dialog.hangUp()
    await calm()
    expect(engine.store.records).toHaveLength(1)
  })
})

describe('referHook of config', () => {
  it('lets verbs take the place of those of a call without another side', async () => {
    const { engine, dialog } = await configured({ referHook: '/refer' })
    engine.hooks.on('/refer', [{ verb: 'hangup' }])
    const referral = new ScriptedReferral({ referTo: 'sip:sales@anywhere.example' })
    dialog.listener.referred?.(referral)
    await calm()
    expect([referral.answer, referral.notified]).toEqual([202, [200]])
    const [asked] = engine.hooks.payloadsOf('/refer')
    expect(asked).toMatchObject({
      refer_details: { refer_to_user: 'sales', referring_call_sid: asked?.['call_sid'] },
    })
    expect(asked?.['refer_details']).not.toHaveProperty('referred_call_sid')
    expect(dialog.sentBye).toBeDefined()
  })

  it('refuses with the status that it answers, and the call goes on', async () => {
    const { engine, dialog } = await configured({ referHook: '/refer' })
    engine.hooks.answers.set('/refer', () =>
      Promise.reject(new AppError('hook_bad_status', 'the hook answered 486', { detail: { status: 486 } })),
    )
    const referral = new ScriptedReferral()
    dialog.listener.referred?.(referral)
    await calm()
    expect(referral.answer).toBe(486)
    expect(dialog.sentBye).toBeUndefined()
  })

  it('holds for a dial that follows, which may have one of its own', async () => {
    for (const [options, path] of [
      [{}, '/refer'],
      [{ referHook: '/own' }, '/own'],
    ] as const) {
      const engine = createScriptedEngine(parseVerbs)
      engine.phones.set('alice@example.com', [phone])
      const dial = { verb: 'dial', target: [{ type: 'user', name: 'alice' }], ...options }
      engine.hooks.on('/call', [{ verb: 'config', referHook: '/refer' }, dial])
      engine.hooks.on('/refer', [menu])
      engine.hooks.on('/own', [menu])
      engine.ring()
      await calm()
      engine.sent[0]?.answer()
      await calm()
      engine.sent[0]?.dialog.listener.referred?.(new ScriptedReferral())
      await calm()
      expect(engine.hooks.asked.map(({ hook }) => new URL(hook.url).pathname)).toEqual(['/call', path])
    }
  })
})

describe('the hooks of a call that the API makes', () => {
  it('are asked from its answer on', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.phones.set('alice@example.com', [phone])
    engine.hooks.on('/call', [menu])
    engine.hooks.on('/refer', [menu])
    await placeOn(engine, {
      ...callRequest,
      referHook: { url: 'http://app.test/refer' },
      requestHook: { url: 'http://app.test/request' },
    })
    const [sent] = engine.sent
    sent?.answer()
    await calm()
    if (sent === undefined) throw new Error('no INVITE was sent')
    expect((await send(sent.dialog, 'MESSAGE', 'hello')).status).toBe(202)
    sent.dialog.listener.referred?.(new ScriptedReferral())
    await calm()
    expect(engine.hooks.payloadsOf('/request')).toMatchObject([{ direction: 'outbound', sip_body: 'hello' }])
    expect(engine.hooks.payloadsOf('/refer')).toHaveLength(1)
  })

  it('get no request that comes before the answer', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.phones.set('alice@example.com', [phone])
    await placeOn(engine, { ...callRequest, requestHook: { url: 'http://app.test/request' } })
    const [sent] = engine.sent
    const info = sipRequest('INFO', { type: 'text/plain', body: 'early' })
    expect(await sent?.options.early?.requested?.(info)).toEqual({ status: 200 })
    sent?.answer()
    await calm()
    expect(engine.hooks.payloadsOf('/request')).toEqual([])
  })

  it('get the requests that come while the call hook is still out, which are accepted at once', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.phones.set('alice@example.com', [phone])
    const verbs = Promise.withResolvers<unknown>()
    engine.hooks.answers.set('/call', () => verbs.promise)
    await placeOn(engine, { ...callRequest, requestHook: { url: 'http://app.test/request' } })
    const [sent] = engine.sent
    sent?.answer()
    await calm()
    if (sent === undefined) throw new Error('no INVITE was sent')
    expect((await send(sent.dialog, 'INFO', 'early')).status).toBe(200)
    for (let n = 1; n < 8; n += 1) expect((await send(sent.dialog, 'MESSAGE', `early ${n}`)).status).toBe(202)
    expect(await send(sent.dialog, 'MESSAGE', 'one too many')).toEqual({
      status: 503,
      headers: [{ name: 'retry-after', value: '2' }],
    })
    expect(engine.hooks.payloadsOf('/request')).toEqual([])
    verbs.resolve([menu])
    await calm()
    expect(engine.hooks.payloadsOf('/request').map(({ sip_body }) => sip_body)).toEqual([
      'early',
      ...[1, 2, 3, 4, 5, 6, 7].map((n) => `early ${n}`),
    ])
  })
})
