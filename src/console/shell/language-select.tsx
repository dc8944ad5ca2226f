import { language, languages } from '../lib/i18n/catalog.ts'
import { t } from './i18n.ts'

/** Selects a language of the console. */
export const LanguageSelect = ({ onChange }: { onChange: (select: HTMLSelectElement) => unknown }) => (
  <label class="language">
    <span class="unseen">{t('language')}</span>
    <select value={language} onChange={({ currentTarget }) => onChange(currentTarget)}>
      {Object.entries(languages).map(([tag, name]) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  </label>
)
