// The style of the pages of the demo and the examples, and the policy that allows them nothing but their own parts.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns the style that a page loads from `/page.css`. */
export function pageStyle(): Promise<string> {
  return readFile(join(import.meta.dirname, 'page.css'), 'utf8')
}

/** Returns the headers of a page. `connects` are the sources that its scripts may contact. */
export function pageHeaders(html: string, connects: readonly string[] = ["'self'"]): Record<string, string> {
  const scripts = Array.from(html.matchAll(/<script>([^]*?)<\/script>/g), ([, script = '']) => {
    return `'sha256-${createHash('sha256').update(script).digest('base64')}'`
  })
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      `default-src 'none'; script-src ${["'self'", ...scripts].join(' ')}; style-src 'self'; ` +
      `connect-src ${connects.join(' ')}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
}
