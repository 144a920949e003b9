import { describe, expect, it } from 'vitest'
import { toHeaderFields } from './app-headers.ts'

describe('a header that an application asks for', () => {
  it.each(['\r\nX-Evil: 1', '\n', '\0', '\u000b', '\u0085', '\u2028', '\u2029', '\u007f'])(
    'is left out, and named, with %j in its value',
    (text) => {
      const { fields, refused } = toHeaderFields({ 'X-Note': `a${text}b`, 'X-Other': 'a\tb' })
      expect(fields).toEqual([{ name: 'x-other', value: 'a\tb' }])
      expect(refused).toEqual(['X-Note'])
    },
  )

  it.each(['X-Forwarded-For', 'x-forwarded-for', 'Via', 'v', 'Route', 'Identity'])(
    'is left out where the platform or its proxies alone may say it: %s',
    (name) => {
      expect(toHeaderFields({ [name]: '192.0.2.9' })).toEqual({ fields: [], refused: [name] })
    },
  )
})
