// The choice of a vendor's voice when an application names only a language, or nothing.
import type { ChosenVoice, Offer, WantedVoice } from './vendor.ts'

/** Chooses the voice. A named voice is passed to the vendor unchanged: our list does not have them all. */
export function chooseVoice(
  { tts = [] }: Offer,
  { voice, language }: WantedVoice,
  preset: { readonly voice: string; readonly language: string | null },
): ChosenVoice {
  if (voice !== null) return { voice, language: language ?? preset.language, isStandIn: false }
  if (language === null) return { ...preset, isStandIn: false }
  const wanted = language.toLowerCase()
  const [base = ''] = wanted.split('-')
  const spoken =
    tts.find(({ value }) => value.toLowerCase() === wanted) ??
    tts.find(({ value }) => value.toLowerCase().split('-')[0] === base)
  const found = spoken?.voices[0]?.value
  return { voice: found ?? preset.voice, language, isStandIn: found === undefined }
}
