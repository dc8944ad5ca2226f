ALTER TABLE `product_documents` ADD `vendor` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `product_documents` ADD `type` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `product_documents` ADD `available` integer DEFAULT true NOT NULL;--> statement-breakpoint
CREATE INDEX `product_documents_vendor` ON `product_documents` (`shop_id`,`vendor`,`newest_key`,`visible_from`);--> statement-breakpoint
CREATE INDEX `product_documents_type` ON `product_documents` (`shop_id`,`type`,`newest_key`,`visible_from`);--> statement-breakpoint
CREATE INDEX `product_documents_available` ON `product_documents` (`shop_id`,`available`,`newest_key`,`visible_from`);--> statement-breakpoint
ALTER TABLE `shops` ADD `show_quantity` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `shops` ADD `pages` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `variants` ADD `requires_shipping` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `variants` ADD `tax_class` text;--> statement-breakpoint
ALTER TABLE `variants` ADD `low_stock_at` integer;--> statement-breakpoint
CREATE INDEX `variants_low` ON `variants` (`product_id`) WHERE low_stock_at is not null and on_hand <= low_stock_at and track_inventory;--> statement-breakpoint
-- by hand: what lists are filtered by, and fields that documents gained. Within a text of JSON quotes are escaped, so that a name with its own stands only where it is one. Their marks change with them.
UPDATE product_documents SET
  vendor = (SELECT p.vendor FROM products p WHERE p.id = product_documents.product_id),
  type = (SELECT p.type FROM products p WHERE p.id = product_documents.product_id),
  available = EXISTS (SELECT 1 FROM variants v WHERE v.product_id = product_documents.product_id AND (not v.track_inventory or v.allow_backorder or v.on_hand > v.reserved)),
  document = replace(document, '"taxable":', '"requiresShipping":true,"taxClass":null,"taxable":'),
  etag = substr(etag, 1, length(etag) - 1) || '-s"';
