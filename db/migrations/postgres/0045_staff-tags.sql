CREATE TABLE "customer_tags" (
	"customer_id" text COLLATE "C" NOT NULL,
	"tag" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "customer_tags_customer_id_tag_pk" PRIMARY KEY("customer_id","tag")
);
--> statement-breakpoint
CREATE TABLE "order_tags" (
	"order_id" text COLLATE "C" NOT NULL,
	"tag" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"number" integer NOT NULL,
	CONSTRAINT "order_tags_order_id_tag_pk" PRIMARY KEY("order_id","tag")
);
--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "note" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "tags" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "tags" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "customer_tags" ADD CONSTRAINT "customer_tags_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_tags" ADD CONSTRAINT "order_tags_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "customer_tags_list" ON "customer_tags" USING btree ("shop_id","tag","customer_id");--> statement-breakpoint
CREATE INDEX "order_tags_list" ON "order_tags" USING btree ("shop_id","tag","number");