import { t } from './i18n.ts'

/** Returns the label of an account's field. */
export const fieldName = (name: string): string => {
  const key = `field.${name}`
  return t.has(key) ? t(key) : name
}
