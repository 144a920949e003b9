// The sealed count of the passages of a call, over systems that make a new call of it.
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openStage, outgoing, sdp } from '../../test/support/sip-stage.ts'
import { headerOf } from './message/message.ts'

const sealOf = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest('hex')

async function sentBy(key: string, passages: number): Promise<string> {
  const stage = await openStage({ seal: sealOf(key) })
  stage.agent.invite({ ...outgoing, passages })
  await stage.soon()
  return headerOf(stage.peer.last('INVITE'), 'x-switchhook-passages') ?? ''
}

/** Returns the count that a node reads from an INVITE of another system with these values. */
async function readBy(key: string, values: readonly string[]): Promise<number | undefined> {
  const stage = await openStage({ seal: sealOf(key) })
  const lines = values.map((value) => `X-Switchhook-Passages: ${value}`)
  stage.peer.send('INVITE', { toTag: '', body: sdp.content, lines })
  await stage.soon()
  return stage.invites[0]?.passages
}

describe('the count of passages', () => {
  it('is in an INVITE that is sent, and is read by every node of the platform from a new call', async () => {
    const value = await sentBy('key', 3)
    expect(value).toMatch(/^3\.[\da-f]{16}\.[\da-f]{16}$/)
    expect(await readBy('key', [value])).toBe(3)
    expect(await readBy('key', [value.toUpperCase()])).toBe(3)
  })

  it('is the highest of several', async () => {
    const [one, two] = [await sentBy('key', 1), await sentBy('key', 2)]
    expect(await readBy('key', [one, two])).toBe(2)
    expect(await readBy('key', [`${two}, ${one}`])).toBe(2)
  })

  it('differs each time, so that two calls cannot be linked by it', async () => {
    expect(await sentBy('key', 1)).not.toBe(await sentBy('key', 1))
  })

  it.each<[string, (value: string) => readonly string[]]>([
    ['another count', (value) => [value.replace(/^3/, '4')]],
    ['another seal', (value) => [value.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]],
    ['no seal', (value) => [value.slice(0, -17)]],
    ['a count that is none', (value) => [value.replace(/^3/, '-3'), value.replace(/^3/, '99999')]],
    ['other text', () => ['', '3', 'x'.repeat(2000)]],
    ['none', () => []],
  ])('is 0 with %s', async (_, change) => {
    expect(await readBy('key', change(await sentBy('key', 3)))).toBe(0)
  })

  it('of another platform says nothing', async () => {
    expect(await readBy('key', [await sentBy('another key', 3)])).toBe(0)
  })
})
