import type { Translation } from '../../lib/i18n/catalog.ts'
import type english from './i18n.en.ts'

export default {
  toolbar: 'التنسيق',
  strong: 'عريض',
  em: 'مائل',
  h2: 'عنوان',
  h3: 'عنوان فرعي',
  ul: 'قائمة نقطية',
  ol: 'قائمة مرقّمة',
  blockquote: 'اقتباس',
  a: 'رابط',
  img: 'صورة داخل النص',
  undo: 'تراجع',
  redo: 'إعادة',
  html: 'تحرير HTML',
  url: 'العنوان',
  urlWrong: 'أدخل عنوانًا مثل https://example.com أو بريدًا إلكترونيًا أو مسارًا.',
  apply: 'تطبيق',
  removeLink: 'إزالة الرابط',
  upload: 'رفع صورة',
  altHint: 'يصف الصورة لمن لا يستطيع رؤيتها. اتركه فارغًا للزخرفة.',
  lost: 'سيزيل المحرّر أجزاء من هذا النص: {names}',
  lostTitle: 'مغادرة عرض HTML؟',
  switch: 'فتح في المحرّر',
} satisfies Translation<typeof english>
