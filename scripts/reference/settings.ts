// docs/reference/settings.md, from src/config/.
import { describeSettings } from '../../src/config/config.ts'
import { page, table } from './page.ts'

export function settingsPage(): string {
  const rows = describeSettings().map(({ name, fallback, describe }) => [
    `\`${name}\``,
    fallback === '' ? 'empty' : `\`${fallback}\``,
    describe,
  ])
  return page('Settings', '`src/config/`', [
    'Every setting is an environment variable. A wrong one stops the start with its name and the rule.',
    '',
    ...table(['Setting', 'Default', 'Meaning'], rows),
  ])
}
