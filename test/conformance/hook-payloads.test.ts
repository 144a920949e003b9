// Every hook of a real call carries the fields that the reference names, and no others. Its examples are these payloads.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { placeCall } from '../../examples/demo/phone.ts'
import { commonFields, hookDescriptions } from '../../src/api/docs/hook-payloads.ts'
import type { HookDescription } from '../../src/api/docs/hook-payloads.ts'
import { startApplication } from '../support/application.ts'
import type { Application } from '../support/application.ts'
import { provision, startPlatform } from '../support/platform-process.ts'
import type { Platform } from '../support/platform-process.ts'
import { until } from '../support/wait.ts'

type Payload = Readonly<Record<string, unknown>>

const exampleFile = join(import.meta.dirname, '../../src/api/docs/hook-examples.json')

describe('the payloads of hooks', () => {
  let application: Application
  let platform: Platform
  const received = new Map<HookDescription['key'], Payload[]>()

  beforeAll(async () => {
    application = await startApplication()
    platform = await startPlatform()
    const tenant = await provision(platform.api, { application, fields: { env_vars: { MENU: 'main' } } })
    const gather = {
      verb: 'gather',
      numDigits: 2,
      timeout: 10,
      actionHook: '/action',
      id: 'menu',
      say: { text: 'Two digits.' },
    }
    application.on('/call', { json: [{ verb: 'tag', data: { order: 4711 } }, gather] })
    application.on('/action', ({ body }) => ({
      json:
        body['digits'] === undefined
          ? []
          : [
              { verb: 'play', url: 'silence_stream://100', actionHook: '/action' },
              { verb: 'dial', target: [{ type: 'user', name: 'absent' }], actionHook: '/action' },
              { verb: 'hangup' },
            ],
    }))
    application.on('/status', { status: 200 })
    let isPressed = false
    const call = await placeCall(
      { server: { host: platform.sip.address, port: platform.sip.port }, ...tenant },
      `sip:${tenant.target}`,
      {
        onSound() {
          if (!isPressed) call.press('42')
          isPressed = true
        },
      },
    )
    await call.ended
    await call.close()
    await until('the last status', () =>
      application.to('/status').some(({ body }) => body['call_status'] === 'completed'),
    )
    for (const key of ['call', 'action', 'status'] as const)
      received.set(
        key,
        application.to(`/${key}`).map(({ body }) => body),
      )
  })

  afterAll(async () => {
    await platform?.remove()
    await application?.close()
  })

  it.each(hookDescriptions)(
    '$name: all fields are described, and those that are always there are there',
    ({ key, fields }) => {
      const payloads = received.get(key) ?? []
      expect(payloads.length).toBeGreaterThan(0)
      const described = [...commonFields, ...fields]
      const always = described.filter(({ when }) => when === undefined).map(({ name }) => name)
      for (const payload of payloads) {
        const names = Object.keys(payload)
        expect(described.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
        expect(names).toEqual(expect.arrayContaining(always))
        for (const { name, type } of described)
          if (payload[name] !== undefined)
            expect(typeof payload[name]).toBe(type === 'text' ? 'string' : type)
      }
    },
  )

  it('say what became of a dial, and of the call that it made', () => {
    const fields = new Set(received.get('action')?.flatMap((payload) => Object.keys(payload)))
    expect(fields).toContain('dial_call_status')
    const dialled = received.get('status')?.filter((payload) => 'parent_call_sid' in payload)
    expect(dialled?.map(({ call_status }) => call_status)).toContain('failed')
  })

  it('are the examples of the reference', async () => {
    const examples = {
      call: received.get('call')?.[0],
      action: received.get('action')?.[0],
      status: received.get('status')?.find(({ call_status }) => call_status === 'completed'),
    }
    await expect(`${JSON.stringify(withoutChance(examples), null, 2)}\n`).toMatchFileSnapshot(exampleFile)
  })
})

/** What differs from run to run: ids, times, ports, tags. */
function withoutChance(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutChance)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, name === 'duration' ? 2 : withoutChance(member)]),
    )
  if (typeof value !== 'string') return value
  return value
    .replaceAll(
      /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
      '01a20239-2106-4d3c-8f3e-66daad174128',
    )
    .replaceAll(/t\d+-\d+\.example\.test/g, 'phones.example.test')
    .replaceAll(/(http:\/\/127\.0\.0\.1):\d{4,5}/g, '$1:<http port>')
    .replaceAll(/(127\.0\.0\.1)[: ]\d{4,5}/g, '$1:5060')
    .replaceAll('<http port>', '3000')
    .replaceAll(/(content-length: |^)\d{3}$/gim, '$1181')
    .replaceAll(/rport=\d+/g, 'rport=5060')
    .replaceAll(/m=audio \d+/g, 'm=audio 40000')
    .replaceAll(/\b[0-9a-f]{32}\b/g, '0af7651916cd43dd8448eb211c80319c')
    .replaceAll(/\b(z9hG4bK)?[0-9a-f]{16}(?=[;@>\s]|$)/g, '$1a84b4c76e66710bc')
    .replaceAll(/(response|nonce|cnonce)="[^"]+"/g, '$1="..."')
}
