import { expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { SipRequest } from '../message/message.ts'
import { refusal } from '../refusal.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'
import { createRefusalLog } from './refusal-log.ts'

const clock = createFakeClock()
const lines: unknown[] = []
const note = createRefusalLog({ clock, log: { info: (fields: unknown) => void lines.push(fields) } })

function answer(reply: Reply, { user = 'alice', address = '192.0.2.1' } = {}): void {
  const to = { name: 'to', value: `"A phone" <sip:${user}@example.test>` }
  const request = { method: 'REGISTER', headers: [to] } as unknown as SipRequest
  note(request, { transport: 'udp', address, port: 5060 } satisfies Remote, reply)
}

it('a phone that is not registered has a line a minute with the user, the code, the sentence and the cure, and twenty a minute in all', () => {
  const wrong = refusal('wrong_credentials', 'Invalid credentials')
  answer(wrong)
  answer(wrong)
  expect(lines).toMatchObject([
    {
      code: 'wrong_credentials',
      sentence: 'Invalid credentials',
      cure: expect.stringMatching(/\w/) as string,
      user: 'sip:alice@example.test',
      remote: '192.0.2.1',
      status: 403,
    },
  ])
  answer(refusal('device_limit', 'Max Devices Registered'))
  expect(lines).toHaveLength(2)
  for (let n = 0; n < 100; n += 1) answer(wrong, { user: `user-${n}` })
  expect(lines).toHaveLength(21)
  clock.advance(60_000)
  answer(wrong)
  expect(lines).toHaveLength(22)
})

it('a challenge, a registration and 423 have no line', () => {
  const before = lines.length
  answer({ status: 401 }, { address: '192.0.2.9' })
  answer({ status: 200 }, { address: '192.0.2.9' })
  answer(refusal('bad_request', 'Register for 60 seconds or more', { status: 423 }), { address: '192.0.2.9' })
  expect(lines).toHaveLength(before)
})
