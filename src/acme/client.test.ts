// Malformed responses of a certificate authority; a real exchange is in create-acme.test.ts.
import { expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createKeyPair, keyToPem } from '../certificates/x509.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { orderCertificate } from './client.ts'

const at = 'https://acme.example'
const directory = { newNonce: `${at}/nonce`, newAccount: `${at}/account`, newOrder: `${at}/order` }

/** Orders from an authority that gives this response to every request after its directory and a nonce. */
function order(status: number, body: string, resources: object = directory): Promise<string> {
  let asked = 0
  const request = async ({ url }: { readonly url: string }) => {
    asked += 1
    if (asked > 20) throw new Error('it is asked for ever')
    if (url === `${at}/directory`)
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(resources)) }
    const headers = { 'replay-nonce': 'n', location: `${at}/account/1` }
    return { status: url === `${at}/nonce` ? 204 : status, headers, body: Buffer.from(body) }
  }
  return orderCertificate({
    directory: `${at}/directory`,
    names: ['sip.example.com'],
    accountKey: keyToPem(createKeyPair()),
    outgoing: { request } as Pick<Outgoing, 'request'>,
    clock: createFakeClock(),
    signal: new AbortController().signal,
    publish: async () => undefined,
  })
}

it.each([
  ['with its reason', JSON.stringify({ detail: 'no such account' }), 'it refused with 403: no such account'],
  ['with a type alone', JSON.stringify({ type: 'urn:x' }), 'it refused with 403: urn:x'],
  ['without JSON', '<html>', 'it refused with 403'],
  [
    'with a nonce that is always old',
    JSON.stringify({ type: 'urn:ietf:params:acme:error:badNonce' }),
    'badNonce',
  ],
])('a refusal %s is said so', async (_, body, sentence) => {
  await expect(order(403, body)).rejects.toThrow(sentence)
})

it('says that an answer is no JSON', async () => {
  await expect(order(200, '<html>')).rejects.toThrow('it sent something else than JSON')
})

it('cuts a reason to a length that a person reads', async () => {
  const refusal = await order(403, JSON.stringify({ detail: 'x'.repeat(200_000) })).catch(String)
  expect(refusal).toMatch(/^Error: it refused with 403: x{300}$/)
})

it.each([
  ['lacks a resource', {}, 'its directory has no newAccount'],
  ['leads out of https', { ...directory, newAccount: 'http://acme.example/account' }, 'is not https'],
])('a directory that %s is not used', async (_, resources, sentence) => {
  await expect(order(200, '{}', resources)).rejects.toThrow(sentence)
})
