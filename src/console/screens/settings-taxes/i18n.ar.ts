import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'نسب الضريبة حسب الوجهة',
  add: 'إضافة نسبة ضريبة',
  none: 'لم تُضبط ضرائب',
  noneText: 'أضف نسبة لكل بلد أو ولاية عليك تحصيل الضريبة فيها. اسأل محاسبك إن لم تكن متأكدًا.',
  rules: 'تُطبَّق النسبة الأكثر تحديدًا: الفئة + الولاية، ثم الفئة + البلد، ثم الولاية، ثم البلد.',
  regionHint: 'الرمز أو الاسم، مثل CA أو California أو دبي. اتركه فارغًا للبلد كله.',
  whole: 'البلد كله',
  class: 'فئة الضريبة',
  classHint: 'للمنتجات من هذه الفئة فقط، مثل books. اتركه فارغًا لكل المنتجات الأخرى.',
  standard: 'العادية',
  ofClass: '{class}',
  rate: 'النسبة',
  percent: 'النسبة (%)',
  notRate: 'أدخل نسبة من 0 إلى 100 (حتى 4 منازل عشرية)، مثل 8.875',
  prices: 'حساب الضريبة',
  inclusive: 'مشمولة في الأسعار',
  onTop: 'تُضاف عند إتمام الشراء',
  isInclusive: 'الأسعار شاملة الضريبة',
  inclusiveHint: 'وإلا تُضاف الضريبة عند إتمام الشراء',
  alsoShipping: 'وعلى الشحن أيضًا',
  isForShipping: 'تطبيق هذه النسبة على الشحن أيضًا',
  shippingHint: 'إن انطبقت عدة نسب على الشحن، تُحتسب النسبة العادية',
  duplicate: 'توجد نسبة لـ{name} بالفعل ({rate}). عدّلها بدلًا من ذلك.',
  removed: 'تمت إزالة {name}',
} satisfies Translation<typeof en>
