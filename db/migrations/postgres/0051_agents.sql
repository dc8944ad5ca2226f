CREATE TABLE "agent_keys" (
	"kid" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"public_key" text NOT NULL,
	"private_key" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"signs_from" bigint NOT NULL,
	"expires_at" bigint
);
--> statement-breakpoint
CREATE TABLE "agent_messages" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"sequence" integer NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"body" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"attempts" integer NOT NULL,
	"next_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_sessions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"cart_id" text COLLATE "C" NOT NULL,
	"profile" text COLLATE "C",
	"is_proven" boolean NOT NULL,
	"opened_from" text COLLATE "C",
	"request" text NOT NULL,
	"shown" text COLLATE "C" NOT NULL,
	"source_id" text COLLATE "C",
	"failures" integer DEFAULT 0 NOT NULL,
	"canceled_at" bigint,
	"expires_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_settings" (
	"shop_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"enabled" boolean NOT NULL,
	"access" text COLLATE "C" NOT NULL,
	"policies" text NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "carts" ADD COLUMN "agent" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "agent" text;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_messages" ADD CONSTRAINT "agent_messages_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_messages" ADD CONSTRAINT "agent_messages_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_sessions" ADD CONSTRAINT "agent_sessions_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_sessions" ADD CONSTRAINT "agent_sessions_cart_id_carts_id_fk" FOREIGN KEY ("cart_id") REFERENCES "public"."carts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_settings" ADD CONSTRAINT "agent_settings_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_keys_shop" ON "agent_keys" USING btree ("shop_id","signs_from");--> statement-breakpoint
CREATE UNIQUE INDEX "agent_messages_order" ON "agent_messages" USING btree ("order_id","sequence");--> statement-breakpoint
CREATE INDEX "agent_messages_due" ON "agent_messages" USING btree ("next_at") WHERE status = 'PENDING';--> statement-breakpoint
CREATE UNIQUE INDEX "agent_sessions_cart" ON "agent_sessions" USING btree ("cart_id");--> statement-breakpoint
CREATE INDEX "agent_sessions_source" ON "agent_sessions" USING btree ("source_id") WHERE source_id is not null;--> statement-breakpoint
CREATE INDEX "agent_sessions_opened" ON "agent_sessions" USING btree ("opened_from","expires_at") WHERE canceled_at is null and opened_from is not null;--> statement-breakpoint
CREATE INDEX "agent_sessions_platform" ON "agent_sessions" USING btree ("shop_id","profile","expires_at") WHERE canceled_at is null;--> statement-breakpoint
CREATE INDEX "orders_agent" ON "orders" USING btree ("shop_id","number") WHERE agent is not null;