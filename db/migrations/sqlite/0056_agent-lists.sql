DROP INDEX `orders_agent`;--> statement-breakpoint
CREATE INDEX `orders_agent` ON `orders` (`shop_id`,`number`,`status`,`payment_status`,`fulfilment_status`,`created_at`) WHERE agent is not null;