import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  answerChallenge,
  challengeHeaders,
  credentialsFor,
  digestResponse,
  isSameResponse,
} from './digest.ts'
import type { HeaderField, SipRequest, SipResponse } from '../message/message.ts'

const mufasa = {
  username: 'Mufasa',
  realm: 'http-auth@example.org',
  password: 'Circle of Life',
  method: 'GET',
  uri: '/dir/index.html',
  nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
  qop: { cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ', nc: '00000001' },
} as const

function request(...headers: HeaderField[]): SipRequest {
  return { kind: 'request', method: 'INVITE', uri: 'sip:bob@biloxi.com', headers, body: new Uint8Array() }
}

function response(status: number, ...headers: HeaderField[]): SipResponse {
  return { kind: 'response', status, reason: '', headers, body: new Uint8Array() }
}

describe('digestResponse', () => {
  it.each([
    ['RFC 7616 §3.9.1 MD5', { ...mufasa, algorithm: 'MD5' }, '8ca523f5e9506fed4657c9700eebdbec'],
    [
      'RFC 7616 §3.9.1 SHA-256',
      { ...mufasa, algorithm: 'SHA-256' },
      '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
    ],
    [
      'RFC 2617 §3.5',
      {
        ...mufasa,
        algorithm: 'MD5',
        realm: 'testrealm@host.com',
        password: 'Circle Of Life',
        nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
        qop: { cnonce: '0a4f113b', nc: '00000001' },
      },
      '6629fae49393a05397450978507c4ef1',
    ],
    [
      'RFC 2069 §2.4 without qop',
      {
        ...mufasa,
        algorithm: 'MD5',
        realm: 'testrealm@host.com',
        password: 'CircleOfLife',
        nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
        qop: undefined,
      },
      '1949323746fe6a43ef61f9606e7febea',
    ],
  ] as const)('gives the published value of %s', (_name, input, expected) => {
    expect(digestResponse(input)).toBe(expected)
  })
})

describe('challengeHeaders', () => {
  it('offers each algorithm in a field of its own, in order', () => {
    const headers = challengeHeaders({
      realm: 'a.example',
      nonce: () => 'n',
      algorithms: ['SHA-256', 'MD5'],
      isStale: true,
    })
    expect(headers.map(({ value }) => value)).toEqual([
      'Digest realm="a.example", nonce="n", algorithm=SHA-256, qop="auth", stale=true',
      'Digest realm="a.example", nonce="n", algorithm=MD5, qop="auth", stale=true',
    ])
  })
})

describe('credentialsFor', () => {
  const good = 'Digest username="u", realm="A.example", uri="sip:a.example", nonce="n", response="AB"'
  const read = (value: string): unknown =>
    credentialsFor(request({ name: 'authorization', value }), 'a.example')

  it('takes the header of the realm and skips those of others', () => {
    const message = request(
      { name: 'authorization', value: good.replace('A.example', 'b.example') },
      { name: 'authorization', value: `${good}, qop=auth, cnonce="c", nc=0000000a` },
    )
    expect(credentialsFor(message, 'a.example')).toMatchObject({
      username: 'u',
      algorithm: 'MD5',
      response: 'ab',
      qop: { cnonce: 'c', nc: '0000000a' },
    })
  })

  it('takes credentials without qop, as older user agents send them', () => {
    expect(read(good)).toMatchObject({ qop: undefined })
  })

  it.each([
    ['an unknown algorithm', `${good}, algorithm=MD5-sess`],
    ['auth-int, which is not offered', `${good}, qop=auth-int, cnonce="c", nc=00000001`],
    ['qop without nc', `${good}, qop=auth, cnonce="c"`],
    ['nc of another length', `${good}, qop=auth, cnonce="c", nc=1`],
    ['no nonce', good.replace('nonce', 'once')],
    ['a repeated parameter', `${good}, realm="b"`],
  ])('calls %s malformed', (_name, value) => {
    expect(read(value)).toBe('malformed')
  })

  it('calls a bearer token or nothing absent', () => {
    expect(read('Bearer abc')).toBe('absent')
    expect(credentialsFor(request(), 'a.example')).toBe('absent')
  })
})

describe('isSameResponse', () => {
  it('tells equal from different, of any length', () => {
    expect(isSameResponse('abc', 'abc')).toBe(true)
    expect(isSameResponse('abc', 'abd')).toBe(false)
    expect(isSameResponse('abc', '')).toBe(false)
  })
})

describe('answerChallenge', () => {
  const challenged = {
    method: 'INVITE',
    uri: 'sip:bob@biloxi.com',
    credentials: { username: 'u"1', password: 'p' },
  }

  it('answers the topmost challenge it can, as our own server would accept it', () => {
    const answer = answerChallenge(
      response(
        401,
        { name: 'www-authenticate', value: 'Digest realm="r", nonce="x", algorithm=SHA-512-256, qop="auth"' },
        {
          name: 'www-authenticate',
          value: 'Digest realm="r", nonce="x", algorithm=SHA-256, qop="auth,auth-int"',
        },
        { name: 'www-authenticate', value: 'Digest realm="r", nonce="x", algorithm=MD5' },
      ),
      challenged,
    )
    expect(answer?.name).toBe('authorization')
    const credentials = credentialsFor(request(answer ?? { name: '', value: '' }), 'r')
    if (credentials === 'absent' || credentials === 'malformed') throw new Error(credentials)
    expect(credentials).toMatchObject({ algorithm: 'SHA-256', username: 'u"1', nonce: 'x' })
    expect(credentials.response).toBe(digestResponse({ ...credentials, method: 'INVITE', password: 'p' }))
  })

  it('answers a proxy in its own field and gives opaque back', () => {
    const value = 'Digest realm="r", nonce="x", opaque="o\\"p"'
    const answer = answerChallenge(response(407, { name: 'proxy-authenticate', value }), challenged)
    expect(answer?.name).toBe('proxy-authorization')
    expect(answer?.value).toContain('opaque="o\\"p"')
    expect(answer?.value).not.toContain('qop')
  })

  it.each([new TextEncoder().encode('v=0\r\n'), undefined])(
    'hashes the body for auth-int alone: RFC 7616 §3.4.3',
    (body) => {
      const value = 'Digest realm="r", nonce="x", algorithm=SHA-256, qop="auth-int"'
      const request = {
        method: 'INVITE',
        uri: 'sip:b',
        credentials: { username: 'u', password: 'p' },
        ...(body && { body }),
      }
      const answer = answerChallenge(response(401, { name: 'www-authenticate', value }), request)?.value ?? ''
      const valueOf = (name: string): string => new RegExp(`${name}="?([^",]+)`).exec(answer)?.[1] ?? ''
      const h = (text: string | Uint8Array): string => hash('sha256', text)
      const target = h(`INVITE:sip:b:${h(body ?? '')}`)
      expect(valueOf('qop')).toBe('auth-int')
      expect(valueOf('response')).toBe(h(`${h('u:r:p')}:x:00000001:${valueOf('cnonce')}:auth-int:${target}`))
    },
  )

  it('gives up on challenges it cannot meet', () => {
    const unmet = ['Basic realm="r"', 'Digest realm="r", nonce="x", qop="auth-conf"', 'Digest realm="r"', ',']
    for (const value of unmet) {
      expect(answerChallenge(response(401, { name: 'www-authenticate', value }), challenged)).toBeUndefined()
    }
  })
})
