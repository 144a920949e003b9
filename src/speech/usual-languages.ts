// Languages that every vendor understands, offered before the vendor itself is asked.
import type { Choice } from './speech.ts'

export const usualLanguages: readonly Choice[] = [
  { value: 'en-US', name: 'English (US)' },
  { value: 'en-GB', name: 'English (UK)' },
  { value: 'de-DE', name: 'German' },
  { value: 'es-ES', name: 'Spanish (Spain)' },
  { value: 'fr-FR', name: 'French' },
]
